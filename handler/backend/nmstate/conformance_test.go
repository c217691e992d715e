//go:build linux && cgo && nmstate

package nmstate

import (
	"testing"

	"github.com/nmstate/kubernetes-nmstate/handler/backend/conformance"
)

func TestConformance(t *testing.T) {
	conformance.Run(t, func(t *testing.T) conformance.Node { return newNode(t) })
}

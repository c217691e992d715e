package v1

import (
	"fmt"

	"k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

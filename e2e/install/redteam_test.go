package install

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane/controlplanetest"
	"github.com/nmstate/kubernetes-nmstate/e2e/redteam"
)

func TestWhatAStolenTokenOfAHandlerCanDo(t *testing.T) {
	i := newInstalled(t, distributed)
	thief := redteam.Thief{Client: i.as("nmstate-handler", "a"), Node: i.node("a"), Victim: i.node("b"), Policy: "old", Namespace: i.namespace}
	i.must(i.admin.Create(t.Context(), &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "old"}}))
	controlplanetest.Eventually(t, func(ctx context.Context) error {
		if err := patch("status")(ctx, thief.Client, stateOf(thief.Victim)); !apierrors.IsForbidden(err) {
			return errors.New("the admission policy is not at work yet")
		}
		return nil
	})
	rows, err := redteam.Run(t.Context(), thief)
	if err != nil {
		t.Error(err)
	}
	for _, wrong := range redteam.Compare(rows) {
		t.Error(wrong)
	}
	// A typed reader has to read everything, or the controllers' caches stay empty.
	i.must(i.admin.List(t.Context(), &v1.NodeNetworkConfigurationEnactmentList{}))
	i.must(i.admin.List(t.Context(), &v1.NodeNetworkStateList{}))
}

package rollout

import (
	"context"
	"errors"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nmstate/kubernetes-nmstate/controllers/rollout/plan"
)

// cutOff carries a patch out and loses the reply, and its cache shows none of it.
type cutOff struct {
	client.Client
	cache client.Reader
}

func (c cutOff) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return c.cache.List(ctx, list, options...)
}

func (c cutOff) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	return errors.Join(c.Client.Patch(ctx, object, patch, options...), errors.New("connection reset by peer"))
}

func TestAGrantWhoseReplyWasLostIsNotGivenToAnotherNode(t *testing.T) {
	before := newStage(t, 1, on{name: "a"}, on{name: "b"})
	s := newStage(t, 1, on{name: "a"}, on{name: "b"})
	s.reconciler.client = cutOff{s.api, before.api}
	request := reconcile.Request{NamespacedName: client.ObjectKey{Name: "p"}}
	if _, err := s.reconciler.Reconcile(t.Context(), request); err == nil {
		t.Fatal("the reply was not lost")
	}
	// By now the first node may have turned its back on the plan.
	in, err := s.reconciler.gather(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	for i := range in.Nodes {
		in.Nodes[i].Ready = in.Nodes[i].Name != "a"
	}
	if got := plan.Make(in).Grants; len(got) > 0 {
		t.Errorf("granted to %v beside a, and one slot is there", got)
	}
	s.clock.Step(unsureFor + time.Second)
	if in, err = s.reconciler.gather(t.Context(), "p"); err != nil || len(in.Unsure) > 0 {
		t.Errorf("after %s it is unsure of %v still, %v", unsureFor, in.Unsure, err)
	}
}

package oracle

import (
	"bytes"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// paced: what somebody else has changed of a node's network is told a second after it was
// seen, so a handler that has told the network tells no more of it for a second
// (hack/adr/0043).
type paced struct {
	// told is when, by node.
	told map[string]time.Duration
}

const betweenNews = time.Second

func newPaced() *paced { return &paced{told: map[string]time.Duration{}} }

func (*paced) Name() string { return "paced" }

func (p *paced) Observe(f *Facts, e Event) error {
	switch what := e.What.(type) {
	case Died:
		delete(p.told, e.Node) // What the next process reads first is told at once.
	case Wrote:
		before, had := what.Before.(*v1.NodeNetworkState)
		after, has := what.After.(*v1.NodeNetworkState)
		if role, _ := roleOf(what.Process); role != roleHandler || !had || !has || !tellsNetwork(before, after) {
			return nil
		}
		last, once := p.told[e.Node]
		p.told[e.Node] = f.Elapsed()
		if once && f.Elapsed()-last < betweenNews && tellsNothingElse(before, after) && f.Calm(e.Node, f.Elapsed()-time.Minute, Clock|Stale|Hinders) {
			return fmt.Errorf("its network is reported again after %s, and no change of ours has made that", f.Elapsed()-last)
		}
	}
	return nil
}

func tellsNetwork(before, after *v1.NodeNetworkState) bool {
	return !before.Status.CurrentState.IsZero() && !bytes.Equal(before.Status.CurrentState.Raw, after.Status.CurrentState.Raw)
}

func tellsNothingElse(before, after *v1.NodeNetworkState) bool {
	a, b := before.Status, after.Status
	a.CurrentState, a.Truncated, a.LastSuccessfulUpdateTime = v1.State{}, nil, metav1.Time{}
	b.CurrentState, b.Truncated, b.LastSuccessfulUpdateTime = v1.State{}, nil, metav1.Time{}
	return equality.Semantic.DeepEqual(a, b)
}

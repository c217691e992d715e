package policy

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// rememberedFor bounds how long it is known what a deleted policy said last: a node that
// is busy with a change for longer undoes as its spec says.
const rememberedFor = time.Hour

// lastWords are the onDelete of policies as they were deleted. Somebody who edits a policy
// and deletes it a moment later means what it says at the end, and a node may be busy in
// between: until then its spec has the onDelete of before.
type lastWords struct {
	clock clock.PassiveClock

	mu   sync.Mutex
	said map[string]lastWord // By the policies' names: an enactment loses its owner.
}

type lastWord struct {
	onDelete string
	at       time.Time
}

func (l *lastWords) note(policy *v1.NodeNetworkConfigurationPolicy) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	for name, word := range l.said {
		if now.Sub(word.at) > rememberedFor {
			delete(l.said, name)
		}
	}
	l.said[policy.Name] = lastWord{onDelete: policy.Spec.OnDelete, at: now}
}

// forget what a policy said of which there is another one now.
func (l *lastWords) forget(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.said, name)
}

// without is what is known of policies that are not among these; nil where that is nothing,
// as nearly always. One that is there says for itself what becomes of its configuration,
// and nothing of an older one of its name holds for it.
func (l *lastWords) without(policies []v1.NodeNetworkConfigurationPolicy) map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.said) == 0 {
		return nil
	}
	words := make(map[string]string, len(l.said))
	for name, word := range l.said {
		words[name] = word.onDelete
	}
	for i := range policies {
		delete(words, policies[i].Name)
	}
	return words
}

// queue is what asks for turns.
type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// listening notes what a deleted policy said, until there is another one of its name,
// before its nodes are asked for turns.
type listening struct {
	handler.EventHandler
	words *lastWords
}

func (l listening) Create(ctx context.Context, e event.CreateEvent, turns queue) {
	l.words.forget(e.Object.GetName())
	l.EventHandler.Create(ctx, e, turns)
}

func (l listening) Delete(ctx context.Context, e event.DeleteEvent, turns queue) {
	if policy, ok := e.Object.(*v1.NodeNetworkConfigurationPolicy); ok {
		l.words.note(policy)
	}
	l.EventHandler.Delete(ctx, e, turns)
}

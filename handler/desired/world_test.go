package desired

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

const node = "n1"

// world is one node's objects, with a state handler and a rollout controller
// that do as they are told.
type world struct {
	t          testing.TB
	now        time.Time
	uids       int
	policies   map[string]*Policy
	deselected map[string]bool
	lastWords  map[string]string
	enactments map[string]*v1.NodeNetworkConfigurationEnactment
	state      *v1.NodeNetworkState
	// applied is the document that the state handler committed last.
	applied []byte
	writes  int
}

func newWorld(t testing.TB) *world {
	return &world{
		t: t, now: time.Unix(1_000_000, 0),
		policies: map[string]*Policy{}, deselected: map[string]bool{}, lastWords: map[string]string{},
		enactments: map[string]*v1.NodeNetworkConfigurationEnactment{},
		state: &v1.NodeNetworkState{
			ObjectMeta: metav1.ObjectMeta{Name: node, Generation: 1},
			Status:     v1.NodeNetworkStateStatus{ObservedGeneration: 1},
		},
	}
}

// stored is the object as it comes back from the API server.
func stored[T any](w *world, object *T) *T {
	raw, err := json.Marshal(object)
	if err != nil {
		w.t.Fatal(err)
	}
	again := new(T)
	if err := json.Unmarshal(raw, again); err != nil {
		w.t.Fatal(err)
	}
	return again
}

// policy creates or edits one.
func (w *world) policy(name, text string, priority int32) {
	p := w.policies[name]
	if p == nil {
		w.uids++
		p = &Policy{Name: name, UID: types.UID(fmt.Sprint("uid-", w.uids)), Created: w.now}
		w.policies[name] = p
		delete(w.lastWords, name)
	}
	p.Generation++
	p.Priority = priority
	w.rendered(name, text)
}

// rendered lets a policy come out as the text says.
func (w *world) rendered(name, text string) {
	p := w.policies[name]
	p.Rendering, p.Err = Render(stateOf(w.t, text).JSON(), p.Priority, true)
}

// remove deletes a policy, which the policy handler sees.
func (w *world) remove(name string) {
	if p := w.policies[name]; p != nil {
		w.lastWords[name] = p.OnDelete
	}
	delete(w.policies, name)
}

func (w *world) input() Input {
	in := Input{Node: node, NodeUID: "node-uid", Now: w.now, State: w.state, LastWords: w.lastWords}
	for _, name := range slices.Sorted(maps.Keys(w.policies)) {
		if !w.deselected[name] {
			in.Policies = append(in.Policies, *w.policies[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.enactments)) {
		in.Enactments = append(in.Enactments, *w.enactments[name])
	}
	return in
}

// decide makes one decision; write carries out its first `most` writes.
func (w *world) decide() Decision { return Decide(w.input()) }

func (w *world) write(d Decision, most int) {
	step := func() bool {
		most--
		if most >= 0 {
			w.writes++
		}
		return most >= 0
	}
	for _, s := range d.Statuses {
		if step() {
			w.checkOlder(w.enactments[s.Name].Status, s.Status)
			w.enactments[s.Name].Status = s.Status
			w.enactments[s.Name] = stored(w, w.enactments[s.Name])
		}
	}
	if d.Spec != nil && step() {
		w.checkSpec(d.Spec)
		w.state.Spec.DesiredState, w.state.Spec.Sources = d.Spec.DesiredState, d.Spec.Sources
		w.state.Spec.Policy, w.state.Spec.TakeOver = d.Spec.Policy, d.Spec.TakeOver
		w.state.Spec.Probes, w.state.Spec.DefaultProbes = d.Spec.Probes, d.Spec.DefaultProbes
		w.state.Generation++
		w.state = stored(w, w.state)
	}
	if d.Confirm != 0 && step() {
		if d.Confirm != w.state.Generation {
			w.t.Errorf("generation %d is confirmed and %d is there", d.Confirm, w.state.Generation)
		}
		w.state.Annotations = map[string]string{v1.ConfirmAnnotation: fmt.Sprint(d.Confirm)}
	}
	for _, object := range d.Create {
		if step() {
			w.create(object)
		}
	}
	for _, name := range d.Delete {
		if step() {
			delete(w.enactments, name)
		}
	}
	for _, object := range d.TakeOver {
		if step() {
			delete(w.enactments, object.Name)
		}
		if step() {
			w.create(object)
		}
	}
}

func (w *world) create(object *v1.NodeNetworkConfigurationEnactment) {
	object = stored(w, object)
	object.Status = v1.NodeNetworkConfigurationEnactmentStatus{}
	object.Generation, object.CreationTimestamp = 1, metav1.Time{Time: w.now}
	w.enactments[object.Name] = stored(w, object)
}

// older leaves an enactment as the older project does, of the policy as it is.
func (w *world) older(policy, text string, standing v1.ConditionType) {
	w.enactments[v1.EnactmentName(node, policy)] = stored(w, &v1.NodeNetworkConfigurationEnactment{
		ObjectMeta: metav1.ObjectMeta{
			Name: v1.EnactmentName(node, policy), Generation: 1, CreationTimestamp: metav1.Time{Time: w.now},
			Labels:          map[string]string{v1.EnactmentPolicyLabel: policy, v1.EnactmentNodeLabel: node},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node, UID: "node-uid"}},
		},
		Status: v1.NodeNetworkConfigurationEnactmentStatus{
			PolicyGeneration: w.policies[policy].Generation, DesiredState: v1.NewState(stateOf(w.t, text).JSON()),
			Conditions: []v1.Condition{{Type: standing, Status: yes}},
		},
	})
}

// checkSpec: what is written differs from what is committed by one policy.
func (w *world) checkSpec(spec *Spec) {
	var different []string
	for _, source := range spec.Sources {
		e := w.enactments[v1.EnactmentName(node, source.Policy)]
		if e == nil || e.Status.Committed == nil || e.Status.Committed.Hash != source.Hash {
			different = append(different, source.Policy)
		}
	}
	if len(different) > 1 {
		w.t.Errorf("the spec differs from what is committed by %v", different)
	}
	if len(different) == 1 && different[0] != spec.Policy {
		w.t.Errorf("the spec changes %v and says %q", different, spec.Policy)
	}
}

func (w *world) enactment(policy string) *v1.NodeNetworkConfigurationEnactment {
	e := w.enactments[v1.EnactmentName(node, policy)]
	if e == nil {
		w.t.Fatalf("policy %s has no enactment", policy)
	}
	return e
}

func (w *world) approve(policy string) {
	e := w.enactment(policy)
	e.Spec = v1.NodeNetworkConfigurationEnactmentSpec{ApprovedGeneration: w.policies[policy].Generation}
	e.Generation++
}

// leave lets the policy leave the node, where it waits to.
func (w *world) leave(policy string) {
	e := w.enactment(policy)
	e.Spec.Leave = true
	e.Generation++
}

func (w *world) abort(policy string) {
	e := w.enactment(policy)
	e.Spec = v1.NodeNetworkConfigurationEnactmentSpec{AbortedGeneration: w.policies[policy].Generation}
	e.Generation++
}

// pending tells whether the state handler has something to do.
func (w *world) pending() bool { return w.state.Status.ObservedGeneration < w.state.Generation }

// handle plays the state handler: it begins the transaction, or ends it.
func (w *world) handle(phase string, result v1.TransactionResult, final bool, message string) {
	document := w.state.Spec.DesiredState.Raw
	status := &w.state.Status
	if sameDocument(document, w.applied) || (len(document) == 0 && len(w.applied) == 0) {
		status.ObservedGeneration, status.AppliedSources = w.state.Generation, v1.PlainSources(w.state.Spec.Sources)
		status.AppliedHash = w.hash(document)
		return
	}
	status.Transaction = &v1.Transaction{
		Generation: w.state.Generation, Phase: phase, Sources: v1.PlainSources(w.state.Spec.Sources),
		Result: result, Final: final, Message: message, GuardedBy: []string{"dns"},
	}
	switch result {
	case v1.TransactionCommitted:
		w.applied = document
		status.ObservedGeneration, status.AppliedSources = w.state.Generation, v1.PlainSources(w.state.Spec.Sources)
		status.AppliedHash = w.hash(document)
	case v1.TransactionRolledBack, v1.TransactionRefused, v1.TransactionRollbackIncomplete:
		if final {
			status.ObservedGeneration = w.state.Generation
		}
	}
}

func (w *world) hash(document []byte) string {
	parsed, err := state.Parse(document)
	if err != nil {
		w.t.Fatal(err)
	}
	return parsed.Hash()
}

// sayNotManaged plays the state handler of a node that is set aside: whatever was
// under way there has gone back.
func (w *world) sayNotManaged() {
	status := &w.state.Status
	if status.Transaction.IsUnderWay() {
		status.Transaction = nil
	}
	status.Conditions = []v1.Condition{{Type: v1.StateAvailable, Status: unknown, Reason: v1.ReasonNotManaged, ObservedGeneration: w.state.Generation}}
}

// checkOlder: what scripts for the older project read says the same as ours.
func (w *world) checkOlder(before, after v1.NodeNetworkConfigurationEnactmentStatus) {
	if after.Retry == nil && after.RetryCount != 0 || after.Retry != nil && after.RetryCount != after.Retry.Attempts {
		w.t.Errorf("retryCount is %d beside %+v", after.RetryCount, after.Retry)
	}
	want := before.DesiredStateMetaInfo
	if string(before.DesiredState.Raw) != string(after.DesiredState.Raw) {
		want = v1.CapturedStateMeta{Time: metav1.NewTime(w.now).Rfc3339Copy(), Version: "0"}
	}
	if got := after.DesiredStateMetaInfo; got.Version != want.Version || !got.Time.Equal(&want.Time) {
		w.t.Errorf("desiredStateMetaInfo is %+v, want %+v", got, want)
	}
}

// standing is an enactment in one line.
func standing(s v1.NodeNetworkConfigurationEnactmentStatus) string {
	var is []string
	message := ""
	for _, c := range s.Conditions {
		if c.Status == metav1.ConditionTrue {
			is, message = append(is, string(c.Type)), c.Message
		}
	}
	if is == nil {
		is = []string{"Unknown"}
	}
	line := fmt.Sprintf("g%d %s", s.PolicyGeneration, strings.Join(is, "+"))
	if message != "" {
		line += fmt.Sprintf(" %q", message)
	}
	if s.Committed != nil {
		line += fmt.Sprintf(" committed=g%d", s.Committed.Generation)
		if s.Hash == "" && len(s.DesiredState.Raw) > 0 {
			line += " changes=untold"
		}
	}
	if Awaits(s) {
		line += fmt.Sprintf(" awaits %s after %d", strings.Join(s.Retry.Awaits, ", "), s.Retry.Attempts)
	} else if s.Retry != nil && s.Retry.After == nil {
		line += fmt.Sprintf(" final after %d", s.Retry.Attempts)
	} else if s.Retry != nil {
		line += fmt.Sprintf(" failed=%d", s.Retry.Attempts)
	}
	if s.Rollback != nil {
		line += " " + s.Rollback.Result
	}
	return line
}

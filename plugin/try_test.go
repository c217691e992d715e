package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// oneNode is a cluster of one node, which does at once what a policy asks for and then
// waits for a person, or fails.
type oneNode struct{ fails bool }

// does makes the objects say what the node has come to.
func (n oneNode) does(ctx context.Context, api client.WithWatch, policy *v1.NodeNetworkConfigurationPolicy) error {
	status, enactment := policyOf(v1.PolicyProgressing, "works", v1.ReasonConfigurationProgressing), enactmentOf("node1", v1.EnactmentProgressing, confirmUntil)
	switch {
	case n.fails:
		status, enactment = policyOf(v1.PolicyDegraded, "1/1 nodes failed to configure", ""), enactmentOf("node1", v1.EnactmentFailing, "probing for 6s: dns: no answer")
	case policy.Annotations[v1.ConfirmAnnotation] != "" || !asks(policy):
		status, enactment = policyOf(v1.PolicyAvailable, "1/1 nodes successfully configured", ""), enactmentOf("node1", v1.EnactmentAvailable, "")
	}
	_ = client.IgnoreNotFound(api.Delete(ctx, enactment.DeepCopy()))
	enactment.ResourceVersion = ""
	enactment.Status.PolicyGeneration = policy.Generation
	if err := api.Create(ctx, enactment); err != nil {
		return err
	}
	policy.Status = status.Status
	policy.Status.ObservedGeneration = policy.Generation
	return api.Update(context.WithValue(ctx, quiet{}, true), policy)
}

// quiet marks the node's own writes.
type quiet struct{}

func asks(policy *v1.NodeNetworkConfigurationPolicy) bool {
	for _, probe := range policy.Spec.Probes {
		if probe.Type == v1.ProbeConfirm {
			return true
		}
	}
	return false
}

func (n oneNode) api(t *testing.T, there ...client.Object) client.WithWatch {
	t.Helper()
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	react := func(ctx context.Context, api client.WithWatch, object client.Object, more int64) error {
		policy, is := object.(*v1.NodeNetworkConfigurationPolicy)
		if !is || ctx.Value(quiet{}) != nil {
			return nil
		}
		policy.Generation += more
		return n.does(ctx, api, policy)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(there...).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, api client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if err := api.Create(ctx, object, options...); err != nil {
				return err
			}
			return react(ctx, api, object, 1)
		},
		Update: func(ctx context.Context, api client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			if err := api.Update(ctx, object, options...); err != nil {
				return err
			}
			return react(ctx, api, object, 1)
		},
		Patch: func(ctx context.Context, api client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if err := api.Patch(ctx, object, patch, options...); err != nil {
				return err
			}
			return react(ctx, api, object, 0)
		},
		Delete: func(ctx context.Context, api client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			if _, is := object.(*v1.NodeNetworkConfigurationPolicy); is {
				if err := api.DeleteAllOf(ctx, &v1.NodeNetworkConfigurationEnactment{}); err != nil {
					return err
				}
			}
			return api.Delete(ctx, object, options...)
		},
	}).Build()
}

// person answers when asked: what is done first, then the answer; none is a person who
// says nothing.
type person struct {
	first  func()
	answer io.Reader
	done   chan struct{}
}

func (p *person) Read(into []byte) (int, error) {
	if p.first != nil {
		p.first()
		p.first = nil
	}
	if p.answer == nil {
		<-p.done
		return 0, io.EOF
	}
	return p.answer.Read(into)
}

func TestTry(t *testing.T) {
	existing := policyOf(v1.PolicyAvailable, "1/1 nodes successfully configured", "")
	existing.Spec.Priority, existing.Labels = 7, map[string]string{"team": "net"}
	edit := func(change func(*v1.NodeNetworkConfigurationPolicy)) func(context.Context, client.Client) {
		return func(ctx context.Context, api client.Client) {
			var policy v1.NodeNetworkConfigurationPolicy
			if err := api.Get(ctx, client.ObjectKey{Name: "mtu"}, &policy); err != nil {
				panic(err)
			}
			before := policy.DeepCopy()
			change(&policy)
			if err := api.Patch(ctx, &policy, client.MergeFrom(before)); err != nil {
				panic(err)
			}
		}
	}
	tests := map[string]struct {
		there  *v1.NodeNetworkConfigurationPolicy
		node   oneNode
		answer io.Reader
		while  func(context.Context, client.Client)
		ends   bool
		code   int
		says   []string
		// after is the policy afterwards: kept as the file has it, gone, before, or edited.
		after string
	}{
		"somebody keeps it":     {answer: strings.NewReader("y\n"), says: []string{"Ctrl-C takes it back", "keep the change on node1?", "is confirmed", "policy mtu: kept"}, after: "kept"},
		"somebody does not":     {answer: strings.NewReader("n\n"), code: 1, says: []string{"policy mtu: deleted", "policy mtu: taken back", "it is not kept"}, after: "gone"},
		"nobody is there":       {answer: strings.NewReader(""), code: 1, says: []string{"it is not kept"}, after: "gone"},
		"an edit is taken back": {there: existing, answer: strings.NewReader("no\n"), code: 1, says: []string{"policy mtu: as it was before"}, after: "before"},
		"an edit is kept":       {there: existing, answer: strings.NewReader("yes\n"), says: []string{"policy mtu: configured", "policy mtu: kept"}, after: "kept"},
		"it is ended by Ctrl-C": {ends: true, code: 1, says: []string{"policy mtu: taken back", "interrupted"}, after: "gone"},
		"somebody keeps it elsewhere": {while: edit(func(p *v1.NodeNetworkConfigurationPolicy) {
			p.Annotations = map[string]string{v1.ConfirmAnnotation: "1"}
		}), says: []string{"policy mtu: kept"}, after: "kept"},
		"somebody edits it meanwhile": {while: edit(func(p *v1.NodeNetworkConfigurationPolicy) { p.Generation, p.Spec.Priority = 9, 9 }), answer: strings.NewReader("n\n"), code: 1, says: []string{"somebody has edited it meanwhile, so it is left alone"}, after: "edited"},
		"the node takes it back":      {node: oneNode{fails: true}, code: 1, says: []string{"1/1 nodes failed to configure", "policy mtu: taken back"}, after: "gone"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var there []client.Object
			if tc.there != nil {
				there = append(there, tc.there.DeepCopy())
			}
			api := tc.node.api(t, there...)
			asked := &person{answer: tc.answer, done: make(chan struct{})}
			defer close(asked.done)
			asked.first = func() {
				if tc.while != nil {
					tc.while(ctx, api)
				}
				if tc.ends {
					cancel()
				}
			}
			var out bytes.Buffer
			p := newPlugin(genericiooptions.IOStreams{In: asked, Out: &out, ErrOut: &out}, clock.RealClock{})
			p.connect = func() (client.Client, error) { return api, nil }
			p.follow = func(context.Context, string) (client.Reader, <-chan struct{}, error) { return api, nil, nil }
			cmd := p.command()
			cmd.SetArgs([]string{"apply", "-f", fileOf(t, mtuPolicy), "--try", "5m"})
			if code := p.code(cmd.ExecuteContext(ctx)); code != tc.code {
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
			for _, want := range tc.says {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is not in:\n%s", want, out.String())
				}
			}
			if got := afterTry(t, api); got != tc.after {
				t.Errorf("the policy is %s, want %s\n%s", got, tc.after, out.String())
			}
		})
	}
}

func afterTry(t *testing.T, api client.Client) string {
	t.Helper()
	var policy v1.NodeNetworkConfigurationPolicy
	err := api.Get(context.Background(), client.ObjectKey{Name: "mtu"}, &policy)
	switch {
	case apierrors.IsNotFound(err):
		return "gone"
	case err != nil:
		t.Fatal(err)
	case asks(&policy) && policy.Spec.Priority != 9:
		return "left behind"
	}
	switch policy.Spec.Priority {
	case 7:
		return "before"
	case 9:
		return "edited"
	}
	return "kept"
}

func TestTryIsRefused(t *testing.T) {
	for args, want := range map[string]string{
		"apply -f FILE --try 5m --dry-run=server": "--try with --dry-run",
		"apply -f FILE --try 1ms":                 "want at least a second",
		"apply -f FILE --try 31m":                 "want at most 30m0s",
		"apply -f - --try 5m":                     "cannot come from there",
		"apply -f TWO --try 5m":                   "--try is for one policy",
		"apply -f PLAN --try 5m":                  "there is nothing to try",
	} {
		files := strings.NewReplacer("FILE", fileOf(t, mtuPolicy), "TWO", fileOf(t, mtuPolicy+"---\n"+mtuPolicy), "PLAN", fileOf(t, strings.Replace(mtuPolicy, "mode: Apply", "mode: Plan", 1)))
		got, api := run(t, nil, "", strings.Fields(files.Replace(args))...)
		if got.code != exitUsage || !strings.Contains(got.err, want) {
			t.Errorf("%s: exit code %d: %s, want %s", args, got.code, got.err, want)
		}
		var list v1.NodeNetworkConfigurationPolicyList
		if err := api.List(t.Context(), &list); err != nil || len(list.Items) > 0 {
			t.Errorf("%s: it made %v, %v", args, list.Items, err)
		}
	}
}

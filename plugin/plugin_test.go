package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/plugin/bundle"
)

// ran is what a run of the plugin came to.
type ran struct {
	out, err string
	code     int
}

// run runs a command against objects of a cluster that does not change by itself.
func run(t *testing.T, objects []client.Object, input string, args ...string) (ran, client.Client) {
	t.Helper()
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	api := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	var out, errOut bytes.Buffer
	p := newPlugin(genericiooptions.IOStreams{In: strings.NewReader(input), Out: &out, ErrOut: &errOut}, clock.RealClock{})
	p.connect = func() (client.Client, error) { return api, nil }
	p.follow = func(context.Context, string) (client.Reader, <-chan struct{}, error) { return api, nil, nil }
	p.pods = func(_ context.Context, o *bundle.Objects) error {
		o.Logs = map[string][]byte{"handler-1.handler": []byte("node1 starts\n")}
		return nil
	}
	cmd := p.command()
	cmd.SetArgs(args)
	code := p.code(cmd.ExecuteContext(t.Context()))
	return ran{out.String(), errOut.String(), code}, api
}

// policyOf is a policy at generation 1 with one condition that is True.
func policyOf(kind v1.ConditionType, message string, goesOn v1.ConditionReason) *v1.NodeNetworkConfigurationPolicy {
	p := &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "mtu", Generation: 1}}
	p.Status.ObservedGeneration, p.Status.Nodes = 1, "1/1"
	p.Status.Conditions = []v1.Condition{{Type: kind, Status: metav1.ConditionTrue, Message: message}}
	if goesOn != "" {
		p.Status.Conditions = append(p.Status.Conditions, v1.Condition{Type: v1.Reconciling, Status: metav1.ConditionTrue, Reason: goesOn})
	}
	return p
}

func enactmentOf(node string, kind v1.ConditionType, message string) *v1.NodeNetworkConfigurationEnactment {
	e := &v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{Name: node + ".mtu", Labels: map[string]string{v1.EnactmentPolicyLabel: "mtu", v1.EnactmentNodeLabel: node}}}
	e.Spec.ApprovedGeneration, e.Status.PolicyGeneration = 1, 1
	e.Status.Conditions = []v1.Condition{{Type: kind, Status: metav1.ConditionTrue, Message: message}}
	return e
}

const confirmUntil = "Applying desired state: waiting for confirmation until 12:05:00Z: kubectl annotate"

func TestExitCodes(t *testing.T) {
	available := []client.Object{policyOf(v1.PolicyAvailable, "1/1 nodes successfully configured", ""), enactmentOf("node1", v1.EnactmentAvailable, "")}
	drifted := []client.Object{&v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: "node1"}, Status: v1.NodeNetworkStateStatus{
		Drift: []v1.Drift{{Path: "interfaces[eth1].mtu", Expected: "1400", Found: "1300"}},
	}}}
	failing := []client.Object{
		policyOf(v1.PolicyDegraded, "1/1 nodes failed to configure", ""), enactmentOf("node1", v1.EnactmentFailing, "probing for 6s: dns: no answer"),
		&v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: "node1"}},
	}
	reported := []client.Object{&v1.NodeNetworkState{
		ObjectMeta: metav1.ObjectMeta{Name: "node1"},
		Spec:       v1.NodeNetworkStateSpec{Sources: []v1.DesiredSource{{Source: v1.Source{Policy: "mtu"}, Paths: []string{"interfaces[eth1].mtu"}}}, DesiredState: v1.NewState([]byte(`{"interfaces":[{"name":"eth1","mtu":1400}]}`))},
		Status: v1.NodeNetworkStateStatus{CurrentState: v1.NewState([]byte(
			`{"interfaces":[{"name":"eth1","type":"ethernet","state":"up","mtu":9000,"mac-address":"02:00:00:00:00:01","ipv4":{"enabled":true,"address":[{"ip":"192.0.2.1","prefix-length":24}]}}]}`))},
	}}
	tests := map[string]struct {
		objects []client.Object
		args    string
		code    int
		out     string
		err     string
	}{
		"no policies at all":                        {nil, "status", 0, "", "there are no policies"},
		"one line for each policy":                  {available, "status", 0, "mtu      Available   1/1", ""},
		"one policy with its nodes":                 {available, "status mtu", 0, "└─ node1  Available\n", ""},
		"one policy for a script":                   {available, "status mtu -o json", 0, `"phase": "Available"`, ""},
		"a policy that is not there":                {nil, "status mtu", 1, "", `reading policy mtu`},
		"waiting for one that is done":              {available, "status mtu --wait", 0, "└─ node1  Available\n", "mtu: Available"},
		"following one until it is done":            {available, "status mtu -w --wait", 0, "mtu: node1 Available", ""},
		"waiting for one that failed":               {[]client.Object{policyOf(v1.PolicyDegraded, "1/1 nodes failed to configure", "")}, "status mtu --wait", 1, "Degraded", "kubectl-nmstate: mtu: 1/1 nodes failed"},
		"waiting for one that is paused":            {[]client.Object{policyOf(v1.PolicyProgressing, "paused", v1.ReasonPaused)}, "status mtu --wait", 3, "step   paused", "kubectl nmstate resume mtu"},
		"waiting for one that has to be confirmed":  {[]client.Object{policyOf(v1.PolicyProgressing, "works", v1.ReasonConfigurationProgressing), enactmentOf("node1", v1.EnactmentProgressing, confirmUntil)}, "status mtu --wait", 3, "Confirm", "kubectl nmstate confirm mtu"},
		"waiting for one that takes too long":       {[]client.Object{policyOf(v1.PolicyProgressing, "works", v1.ReasonConfigurationProgressing)}, "status mtu --wait --timeout 1ms", 1, "", "after 1ms: mtu: works"},
		"a timeout without anything to wait for":    {available, "status mtu --timeout 1s", 2, "", "--timeout without --wait"},
		"an output that there is not":               {available, "status mtu -o wide", 2, "", "there are json and yaml"},
		"two policies where one is asked for":       {available, "status mtu other", 2, "", "accepts at most 1"},
		"a flag that there is not":                  {nil, "status --wiat", 2, "", "unknown flag"},
		"a misspelt command":                        {nil, "stauts", 2, "", "did you mean status?"},
		"kubectl's own flags":                       {nil, "options", 0, "--context", ""},
		"the help of a command leaves those out":    {nil, "status --help", 0, "kubectl's own flags", ""},
		"why a policy fails":                        {failing, "why mtu", 0, "mtu on node1  Failing  step probing", ""},
		"what fails on a node":                      {failing, "why node1 -o json", 0, `"policy": "mtu"`, ""},
		"why a policy that does not fail":           {available, "why mtu", 0, "policy mtu fails on no node", ""},
		"why what there is not":                     {nil, "why mtu", 1, "", "neither a policy nor a node called mtu"},
		"what has drifted on all nodes":             {drifted, "drift", 0, "node1   interfaces[eth1].mtu   1400", ""},
		"what has drifted on one, for a script":     {drifted, "drift node1 -o json", 0, `"path": "interfaces[eth1].mtu"`, ""},
		"what has drifted on a node there is not":   {nil, "drift node1", 1, "", "reading the state of node node1"},
		"interfaces of all nodes":                   {reported, "get interfaces", 0, "node1   eth1        ethernet   up      9000   02:00:00:00:00:01   192.0.2.1/24   mtu\n", ""},
		"interfaces for which something holds":      {reported, "get interfaces --where mtu>9000", 0, "", "no interface of 1 nodes"},
		"interfaces for a script":                   {reported, "get interfaces --node node1 --where mtu>1500 -o json", 0, `"mac": "02:00:00:00:00:01"`, ""},
		"an expression that is none":                {reported, "get interfaces --where mtuu>1500", 2, "", "kubectl-nmstate: usage: --where mtuu>1500: column 1: undeclared reference to 'mtuu'; there are node, name"},
		"interfaces of a node there is not":         {reported, "get interfaces --node node2", 1, "", "reading the state of node node2"},
		"something that cannot be listed":           {reported, "get routes", 2, "", `there is no "routes" to get`},
		"nothing to list":                           {reported, "get", 2, "", "get interfaces"},
		"names of nodes are completed":              {reported, "__complete get interfaces --node n", 0, "node1\n", ""},
		"who has set an interface":                  {reported, "why node1 eth1", 0, "mtu       1400    mtu      -     -        -       stays; with kubectl nmstate undo mtu it comes back", ""},
		"who has set an interface, for a script":    {reported, "why node1 eth1.mtu -o json", 0, `"value": "1400"`, ""},
		"who has set what nobody has set":           {reported, "why node1 eth1.ipv4", 0, "no policy sets anything of eth1.ipv4 on node node1", ""},
		"an interface that a node has not":          {reported, "why node1 eth9", 1, "", "node node1 has no interface eth9"},
		"names of interfaces are completed":         {reported, "__complete why node1 e", 0, "eth1\n", ""},
		"what a node lacks":                         {reported, "diff node1", 1, "-interfaces[eth1].mtu: 9000\n+interfaces[eth1].mtu: 1400\n", ""},
		"what a node lacks, for a script":           {reported, "diff node1 -o json", 1, `"desired": "1400"`, ""},
		"a node that lacks nothing":                 {drifted, "diff node1", 0, "", ""},
		"what a node lacks that there is not":       {nil, "diff node1", 2, "", "reading the state of node node1"},
		"cables where nothing is heard":             {reported, "cabling", 0, "1 nodes have heard no neighbour", ""},
		"cables for a script":                       {reported, "cabling -o json", 0, "[]\n", ""},
		"what a node went through":                  {failing, "history node1", 0, "node node1 remembers no change", ""},
		"what a node went through, for a script":    {failing, "history node1 -o json", 0, "[]\n", ""},
		"the history of a node there is not":        {nil, "history node1", 1, "", "reading the state of node node1"},
		"a picture of a node":                       {reported, "graph node1", 0, "│ ethernet mtu 9000 │", ""},
		"a picture for a browser":                   {reported, "graph node1 -o svg", 0, "<svg ", ""},
		"a picture for Markdown":                    {reported, "graph node1 -o mermaid", 0, "flowchart LR", ""},
		"a picture for Graphviz":                    {reported, "graph node1 -o dot", 0, "rankdir=LR", ""},
		"a picture of a kind that there is not":     {reported, "graph node1 -o png", 2, "", "there are text, svg, mermaid, dot"},
		"a picture of a node that there is not":     {reported, "graph node2", 1, "", "reading the state of node node2"},
		"names of policies are completed":           {available, "__complete status m", 0, "mtu\n", ""},
		"the version is that of the other programs": {nil, "--version", 0, "kubectl-nmstate version devel\n", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, _ := run(t, tc.objects, "", strings.Fields(tc.args)...)
			if got.code != tc.code || !strings.Contains(got.out, tc.out) || !strings.Contains(got.err, tc.err) {
				t.Errorf("exit code %d, want %d\nout: %s\nwant: %s\nerr: %s\nwant: %s", got.code, tc.code, got.out, tc.out, got.err, tc.err)
			}
			if strings.Contains(tc.args, "--help") && strings.Contains(got.out, "--kubeconfig") {
				t.Errorf("the help has kubectl's flags:\n%s", got.out)
			}
		})
	}
}

func TestScreenDrawsOverItself(t *testing.T) {
	var out bytes.Buffer
	s := &screen{out: &out, size: func() (int, int) { return 8, 4 }}
	s.draw([]string{"one", "\x1b[31m123456789\x1b[0m"})
	s.draw([]string{"one", "\x1b[31m123456789\x1b[0m"})
	s.draw([]string{"1", "2", "3", "4"})
	const want = "one\n\x1b[31m1234567…\x1b[0m\n\x1b[2A\x1b[J1\n2\nand 2 m…\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	if redrawAfter < time.Second/5 {
		t.Error("it is drawn more than five times a second")
	}
}

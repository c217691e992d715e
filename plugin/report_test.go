package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestReport(t *testing.T) {
	state := &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: "node1"}}
	state.Status.CurrentState = v1.NewState([]byte(`{"interfaces":[{"name":"eth0","type":"ethernet","state":"up","ipv4":{"enabled":true,"address":[{"ip":"198.51.100.7","prefix-length":24}]}}]}`))
	state.Spec.DesiredState = v1.NewState([]byte(`{"interfaces":[{"name":"eth0","802.1x":{"identity":"me","password":"letmein"}}]}`))
	other := &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: "elsewhere"}}
	objects := []client.Object{policyOf(v1.PolicyDegraded, "1/1 nodes failed to configure", ""), enactmentOf("node1", v1.EnactmentFailing, "probing for 6s: ping 198.51.100.1: no answer"), state, other}
	tests := map[string]struct {
		args      string
		code      int
		has, not  []string
		printed   string
		noOutcome bool
	}{
		"a page of all":                 {"report -o html --file FILE", 0, []string{"policy mtu", "node node1", "node elsewhere", "ping 198.51.100.1: no answer", "<svg"}, []string{"<script", "src=", "http:", "letmein"}, "2 nodes, 1 logs", false},
		"a page of one policy":          {"report mtu -o html --file FILE", 0, []string{"node node1"}, []string{"elsewhere"}, "1 nodes", false},
		"a page with other names":       {"report -o html --replace-names --file FILE", 0, []string{"node node-2"}, []string{"node1", "198.51.100"}, "", false},
		"an archive":                    {"report --file FILE", 0, []string{"\x1f\x8b"}, nil, "1 policies, 2 nodes, 1 logs", false},
		"an archive to standard output": {"report --file -", 0, nil, nil, "\x1f\x8b", true},
		"a policy that there is not":    {"report none --file FILE", 1, nil, nil, "reading policy none", true},
		"an output that there is not":   {"report -o pdf", 2, nil, nil, "there are archive and html", true},
		"a folder that there is not":    {"report --file /nowhere/report", 1, nil, nil, "writing the report", true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "report")
			got, _ := run(t, objects, "", strings.Fields(strings.Replace(tc.args, "FILE", file, 1))...)
			if got.code != tc.code || !strings.Contains(got.out+got.err, tc.printed) {
				t.Errorf("exit code %d, want %d\n%s%s", got.code, tc.code, got.out, got.err)
			}
			text, err := os.ReadFile(file)
			if (err != nil) != tc.noOutcome {
				t.Fatal(err)
			}
			for _, want := range tc.has {
				if !strings.Contains(string(text), want) {
					t.Errorf("%q is not in:\n%s", want, text)
				}
			}
			for _, not := range tc.not {
				if strings.Contains(strings.ReplaceAll(string(text), "http://www.w3.org/2000/svg", ""), not) {
					t.Errorf("%q is in:\n%s", not, text)
				}
			}
		})
	}
}

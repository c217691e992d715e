package controlplane

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const auditLog = `{"auditID":"1","stage":"ResponseComplete","verb":"list","user":{"username":"admin"},"userAgent":"kubectl/v1","objectRef":{"resource":"nodes"},"responseStatus":{"code":200}}
{"auditID":"2","stage":"ResponseStarted","verb":"watch","user":{"username":"handler","extra":{"authentication.kubernetes.io/node-name":["node1"]}},"userAgent":"handler/v1","objectRef":{"resource":"nodenetworkstates","apiGroup":"nmstate.io"},"responseStatus":{"code":200}}

{"auditID":"2","stage":"ResponseComplete","verb":"watch","user":{"username":"handler","extra":{"authentication.kubernetes.io/node-name":["node1"]}},"userAgent":"handler/v1","objectRef":{"resource":"nodenetworkstates","apiGroup":"nmstate.io"},"responseStatus":{"code":200}}
{"auditID":"3","stage":"RequestReceived","verb":"patch","user":{"username":"handler"}}
{"auditID":"3","stage":"ResponseComplete","verb":"patch","user":{"username":"handler"},"objectRef":{"resource":"nodenetworkstates","subresource":"status","apiGroup":"nmstate.io","name":"node1"},"responseStatus":{"code":409}}
{"auditID":"4","stage":"Respon`

func TestRequestsAreReadFromTheAuditLog(t *testing.T) {
	for name, c := range map[string]struct {
		filter Filter
		want   string
	}{
		"all, a watch counted once and the line being written left out": {
			Filter{}, "   1 list nodes\n   1 patch nodenetworkstates/status\n   1 watch nodenetworkstates\n",
		},
		"by user":               {Filter{User: "handler"}, "   1 patch nodenetworkstates/status\n   1 watch nodenetworkstates\n"},
		"by node":               {Filter{Node: "node1"}, "   1 watch nodenetworkstates\n"},
		"by user agent":         {Filter{UserAgent: "kubectl/"}, "   1 list nodes\n"},
		"by verb and group":     {Filter{Verbs: []string{"patch", "list"}, Groups: []string{"nmstate.io"}}, "   1 patch nodenetworkstates/status\n"},
		"by resource and name":  {Filter{Resources: []string{"nodenetworkstates"}, Name: "node1"}, "   1 patch nodenetworkstates/status\n"},
		"by what nothing meets": {Filter{User: "nobody"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			requests, err := parseRequests(strings.NewReader(auditLog), c.filter)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, Summary(requests)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestALineThatIsNoEventIsNamed(t *testing.T) {
	_, err := parseRequests(strings.NewReader("{}\nnonsense\n"), Filter{})
	if err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("got %v, want an error that names line 2", err)
	}
}

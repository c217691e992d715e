package ui

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func now() time.Time { return time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC) }

func handler(t *testing.T, token string, objects ...client.Object) *Handler {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	api := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	viewer := Viewer{Held: api, Live: api, Follow: func(ctx context.Context, _ func()) error { <-ctx.Done(); return nil }}
	h, err := New(Handler{
		Viewer: func(*http.Request) (Viewer, error) { return viewer, nil },
		Clock:  clocktesting.NewFakeClock(now()), Token: token, Key: []byte("key"), Cluster: "lab",
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func get(h http.Handler, path string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8080"+path, nil)
	for _, one := range change {
		one(request)
	}
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, request)
	return answer
}

// state is a node with one interface whose MTU has drifted.
func state(name string) *v1.NodeNetworkState {
	nns := &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: name}}
	nns.Spec.Sources = []v1.DesiredSource{{Source: v1.Source{Policy: "mtu"}, Paths: []string{"interfaces[eth1].mtu"}}}
	nns.Spec.DesiredState = v1.NewState([]byte(`{"interfaces":[{"name":"eth1","mtu":1400}]}`))
	nns.Status.CurrentState = v1.NewState([]byte(`{"interfaces":[{"name":"eth1","type":"ethernet","state":"up","mtu":1300,"mac-address":"02:00:00:00:00:01",
		"lldp":{"enabled":true,"neighbors":[[{"system-name":"tor-<a>"},{"chassis-id":"02:00:00:00:00:0a"},{"port-id":"swp7"}]]}}]}`))
	nns.Status.Drift = []v1.Drift{{Path: "interfaces[eth1].mtu", Expected: "1400", Found: "1300", Policy: "mtu", Action: "Reported"}}
	nns.Status.Conditions = []v1.Condition{{Type: v1.StateAvailable, Status: metav1.ConditionTrue, Reason: v1.ReasonReported}}
	nns.Status.History = []v1.PastTransaction{{Policy: "mtu", PolicyGeneration: 2, Result: v1.TransactionCommitted, Ended: metav1.NewTime(now())}}
	return nns
}

func enactment(node, policy string, kind v1.ConditionType, message string) *v1.NodeNetworkConfigurationEnactment {
	e := &v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{Name: node + "." + policy, Labels: map[string]string{v1.EnactmentPolicyLabel: policy, v1.EnactmentNodeLabel: node}}}
	e.Spec.ApprovedGeneration, e.Status.PolicyGeneration = 1, 1
	e.Status.Conditions = []v1.Condition{
		{Type: kind, Status: metav1.ConditionTrue, Message: message, LastTransitionTime: metav1.NewTime(now())},
		{Type: v1.EnactmentPending, Status: metav1.ConditionFalse, LastTransitionTime: metav1.NewTime(now().Add(-time.Minute))},
	}
	return e
}

func objects() []client.Object {
	mtu := &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "mtu", Generation: 1}}
	mtu.Status.ObservedGeneration, mtu.Status.Nodes = 1, "1/2"
	mtu.Status.Conditions = []v1.Condition{{Type: v1.PolicyDegraded, Status: metav1.ConditionTrue, Message: "1/2 nodes failed to configure"}}
	plan := &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "later", Generation: 1}}
	plan.Spec.Mode, plan.Status.ObservedGeneration = "Plan", 1
	plan.Status.Conditions = []v1.Condition{{Type: v1.Planned, Status: metav1.ConditionTrue}}
	planned := enactment("node1", "later", v1.Planned, "")
	planned.Status.Plan = &v1.EnactmentPlan{Hash: "796f18c27b3f5cd9", Disruption: "LinkFlap", Interfaces: []v1.PlannedInterface{{Name: "br1", Disruption: "LinkFlap", Changes: []string{"mtu: 1500 -> 1400"}}}}
	return []client.Object{
		state("node1"), &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: "node2"}}, mtu, plan, planned,
		enactment("node1", "mtu", v1.EnactmentAvailable, ""), enactment("node2", "mtu", v1.EnactmentFailing, "probing for 6s: dns: <no> answer"),
	}
}

func TestPages(t *testing.T) {
	tests := map[string]struct {
		path string
		code int
		// says are texts of the page without its tags.
		says, not []string
	}{
		"the fleet":                        {"/", 200, []string{"node1 drifted interfaces[eth1].mtu", "node2 silent it has not reported", "1 drifted 1 silent"}, nil},
		"a part of the fleet":              {"/?show=silent", 200, []string{"node2"}, []string{"node1"}},
		"nothing of the fleet":             {"/?show=failing", 200, []string{"no node is failing"}, nil},
		"a node":                           {"/nodes/node1", 200, []string{"tor-<a>", "drift: mtu is 1300, not 1400", "interfaces[eth1].mtu 1400 mtu", "found 1300, Reported", "mtu generation 2"}, nil},
		"interfaces by their neighbour":    {"/nodes/node1?filter=swp7", 200, []string{"1 of 1"}, nil},
		"interfaces by what none has":      {"/nodes/node1?filter=9000", 200, []string{"0 of 1"}, nil},
		"a node that there is not":         {"/nodes/node9", 404, []string{"Not found"}, nil},
		"the policies":                     {"/policies", 200, []string{"mtu Degraded 1/2"}, nil},
		"a policy":                         {"/policies/mtu", 200, []string{"probing for 6s: dns: <no> answer", "kubectl nmstate retry mtu", "node1 Available", "1m0s"}, nil},
		"a policy that there is not":       {"/policies/none", 404, []string{"policy none is not there"}, nil},
		"the plans":                        {"/plans", 200, []string{"796f18c27b3f5cd9 LinkFlap 1 nodes", "mtu: 1500 -> 1400"}, nil},
		"drift":                            {"/drift", 200, []string{"node1 interfaces[eth1].mtu 1400 1300 mtu Reported"}, nil},
		"an empty form":                    {"/write", 200, []string{"Nothing is sent to the cluster"}, []string{"kubectl nmstate plan"}},
		"a bond from the form":             {"/write?policy=storage&kind=bond&mode=802.3ad&name=bond0&ports=eth1,+eth2&address=192.0.2.11/24&mtu=9000&label=a%3Db", 200, []string{"mode: 802.3ad", "- eth1\n", "prefix-length: 24", "mtu: 9000", "a: b", "kubectl nmstate apply -f storage.yaml --try 5m"}, []string{"unknown"}},
		"a bridge with DHCP from the form": {"/write?policy=p&kind=linux-bridge&name=br1&ports=eth1&dhcp=on", 200, []string{"- name: eth1", "dhcp: true"}, []string{"unknown"}},
		"a VLAN from the form":             {"/write?policy=p&kind=vlan&name=eth1.7&base=eth1&id=7&address=2001:db8::1/64", 200, []string{"base-iface: eth1", "id: 7", "ipv6:"}, []string{"unknown"}},
		"a VLAN without an id":             {"/write?policy=p&kind=vlan&name=eth1.7&base=eth1", 200, []string{`"" is no number`}, []string{"apiVersion"}},
		"an address that is none":          {"/write?policy=p&kind=ethernet&name=eth1&address=192.0.2.1", 200, []string{`"192.0.2.1" is none`}, []string{"apiVersion"}},
		"the plan beside the form":         {"/write?policy=p&kind=ethernet&name=eth1&mtu=9000", 200, []string{"1 Reapply: eth1: settings change", "Reapply 1 nodes", "mtu: 1300 -> 9000", "not answered: node2"}, []string{"You may not"}},
		"what a node would refuse":         {"/write?policy=p&kind=vlan&name=eth1.7&base=eth1&id=70000", 200, []string{"vlan.id"}, nil},
		"a page that there is not":         {"/nowhere", 404, nil, nil},
		"the style sheet":                  {"/style.css", 200, []string{"color-scheme"}, nil},
		"the script":                       {"/script.js", 200, []string{"EventSource"}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			answer := get(handler(t, "", objects()...), tc.path)
			said := readable(answer.Body.String())
			if answer.Code != tc.code {
				t.Errorf("status %d, want %d", answer.Code, tc.code)
			}
			for _, want := range tc.says {
				if !strings.Contains(said, want) {
					t.Errorf("%q is not in:\n%s", want, said)
				}
			}
			for _, not := range tc.not {
				if strings.Contains(said, not) {
					t.Errorf("%q is in:\n%s", not, said)
				}
			}
			if strings.Contains(answer.Body.String(), "tor-<a>") || strings.Contains(answer.Body.String(), "<no> answer") {
				t.Error("what a node says is read as HTML")
			}
		})
	}
}

var tag = regexp.MustCompile(`(?s)<style>.*?</style>|<[^>]*>`)

// readable is a page without its tags.
func readable(page string) string {
	page = tag.ReplaceAllString(page, " ")
	page = regexp.MustCompile(` +`).ReplaceAllString(page, " ")
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&#34;", `"`, "&#39;", "'", "&amp;", "&").Replace(page)
}

func TestWhoMayAsk(t *testing.T) {
	h := handler(t, "secret")
	first := get(h, "/?token=secret")
	given := first.Result().Cookies()
	if first.Code != http.StatusSeeOther || len(given) != 1 || !given[0].HttpOnly || given[0].SameSite != http.SameSiteStrictMode {
		t.Fatalf("the token is answered by %d, %v", first.Code, given)
	}
	with := func(r *http.Request) { r.AddCookie(given[0]) }
	tests := map[string]struct {
		path   string
		change func(*http.Request)
		code   int
	}{
		"with the cookie":                  {"/", with, 200},
		"with another cookie":              {"/", func(r *http.Request) { r.AddCookie(&http.Cookie{Name: cookie, Value: "guess"}) }, 403},
		"with another token":               {"/?token=guess", func(*http.Request) {}, 403},
		"with nothing":                     {"/drift", func(*http.Request) {}, 403},
		"to change something":              {"/", func(r *http.Request) { with(r); r.Method = http.MethodPost }, 405},
		"by a name that leads here":        {"/", func(r *http.Request) { with(r); r.Host = "evil.example:8080" }, 403},
		"by the loopback's name":           {"/", func(r *http.Request) { with(r); r.Host = "localhost:8080" }, 200},
		"by the loopback's IPv6 address":   {"/", func(r *http.Request) { with(r); r.Host = "[::1]:8080" }, 200},
		"by an address of another machine": {"/", func(r *http.Request) { with(r); r.Host = "192.0.2.1" }, 403},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			answer := get(h, tc.path, tc.change)
			if answer.Code != tc.code {
				t.Errorf("status %d, want %d", answer.Code, tc.code)
			}
			if policy := answer.Header().Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'") {
				t.Errorf("Content-Security-Policy: %s", policy)
			}
		})
	}
}

// TestAThousandNodes: the fleet of a large cluster is one page of a size that a browser shows at once.
func TestAThousandNodes(t *testing.T) {
	var all []client.Object
	for i := range 1000 {
		all = append(all, state(fmt.Sprintf("node%04d", i)))
	}
	page := get(handler(t, "", all...), "/").Body
	if tiles := strings.Count(page.String(), `class="tile drifted"`); tiles != 1000 || page.Len() > 512<<10 {
		t.Errorf("%d tiles in %d bytes", tiles, page.Len())
	}
}

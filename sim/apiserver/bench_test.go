package apiserver_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
	"github.com/nmstate/kubernetes-nmstate/handler/policy"
	"github.com/nmstate/kubernetes-nmstate/sim/apiserver"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// reported is a NodeNetworkState of about 4 KB.
func reported(name string) *v1.NodeNetworkState {
	var interfaces []string
	for i := range 20 {
		interfaces = append(interfaces, fmt.Sprintf(`{"ipv4":{"address":[{"ip":"192.0.2.%d","prefix-length":24}],"dhcp":false,"enabled":true},"ipv6":{"enabled":false},"mac-address":"02:00:00:00:00:%02x","mtu":1500,"name":"eth%d","state":"up","type":"ethernet"}`, i, i, i))
	}
	made := state(name)
	made.Status.CurrentState = v1.NewState([]byte(`{"dns-resolver":{"config":{},"running":{}},"interfaces":[` + strings.Join(interfaces, ",") + `],"routes":{"config":[]}}`))
	made.Status.Conditions = []v1.Condition{{Type: v1.StateAvailable, Status: metav1.ConditionTrue, Reason: v1.ReasonReported}}
	return made
}

func BenchmarkAStatusPatchOf4KB(b *testing.B) {
	store := apiserver.New(world.New(1))
	api := store.As("n1")
	object := reported("n1")
	full := object.Status
	if err := api.Create(b.Context(), object); err != nil {
		b.Fatal(err)
	}
	object.Status = full
	if err := api.Status().Update(b.Context(), object); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		next := object.DeepCopy()
		next.Status.AppliedHash = fmt.Sprint(i)
		if err := api.Status().Patch(b.Context(), next, client.MergeFrom(object)); err != nil {
			b.Fatal(err)
		}
		object = next
	}
}

func BenchmarkACachedGet(b *testing.B) {
	w := world.New(1)
	store := apiserver.New(w)
	if err := store.As("x").Create(b.Context(), reported("n1")); err != nil {
		b.Fatal(err)
	}
	way := store.Connect(w.Process("n1"), apiserver.ConnectionOptions{})
	c := way.Cache(cache.Options{})
	c.Subscribe(&v1.NodeNetworkState{}, func(apiserver.Change) {})
	c.Start()
	if err := w.RunFor(time.Minute); err != nil {
		b.Fatal(err)
	}
	api := way.Client(c)
	b.ReportAllocs()
	for b.Loop() {
		var got v1.NodeNetworkState
		if err := api.Get(b.Context(), client.ObjectKey{Name: "n1"}, &got); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkASharedListOf1000(b *testing.B) {
	w := world.New(1)
	store := apiserver.New(w)
	for i := range 1000 {
		if err := store.As("x").Create(b.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i)}}); err != nil {
			b.Fatal(err)
		}
	}
	way := store.Connect(w.Process("controllers"), apiserver.ConnectionOptions{})
	c := way.Cache(cache.Options{})
	c.Subscribe(&corev1.Node{}, func(apiserver.Change) {})
	c.Start()
	if err := w.RunFor(time.Minute); err != nil {
		b.Fatal(err)
	}
	api := way.Client(c)
	b.ReportAllocs()
	for b.Loop() {
		var got corev1.NodeList
		if err := api.List(b.Context(), &got, client.UnsafeDisableDeepCopy); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAPolicyStatusTo5000Nodes is one write that every handler's cache hears of.
func BenchmarkAPolicyStatusTo5000Nodes(b *testing.B) {
	const n = 5000
	w := world.New(1)
	store := apiserver.New(w)
	api := store.As("x")
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	must(api.Create(b.Context(), &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p"}}))
	before := heap()
	for i := range n {
		name := fmt.Sprint("n", i)
		must(api.Create(b.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}))
		must(api.Create(b.Context(), &v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{
			Name: v1.EnactmentName(name, "p"), Labels: map[string]string{v1.EnactmentNodeLabel: desired.NodeLabel(name)},
		}}))
		object := reported(name)
		status := object.Status
		must(api.Create(b.Context(), object))
		object.Status = status
		must(api.Status().Update(b.Context(), object))
		c := store.Connect(w.Process(name), apiserver.ConnectionOptions{}).Cache(policy.CacheOptions(name))
		for _, like := range []client.Object{
			&corev1.Node{}, &v1.NodeNetworkState{}, &v1.NodeNetworkConfigurationPolicy{}, &v1.NodeNetworkConfigurationEnactment{},
		} {
			c.Subscribe(like, func(apiserver.Change) {})
		}
		c.Start()
	}
	must(w.RunFor(time.Minute))
	b.ReportMetric(float64(heap()-before)/n, "B/node")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		must(api.Status().Patch(b.Context(), &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p"}},
			merge(`{"status":{"observedGeneration":%d}}`, i+1)))
		must(w.RunFor(time.Second))
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

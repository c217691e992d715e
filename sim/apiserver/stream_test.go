package apiserver_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/sim/apiserver"
)

// heard is what a subscriber was told, in one line each.
func heard(b *bench, c *apiserver.Cache) *[]string {
	var lines []string
	generation := func(o client.Object) string {
		if o == nil {
			return "-"
		}
		return fmt.Sprintf("%s@%d", o.GetName(), o.GetGeneration())
	}
	c.Subscribe(&v1.NodeNetworkState{}, func(c apiserver.Change) {
		lines = append(lines, fmt.Sprintf("%s %s>%s", b.world.Elapsed().Truncate(time.Second), generation(c.Old), generation(c.New)))
	})
	return &lines
}

// edit makes the next generation.
func (b *bench) edit(name string) {
	b.Helper()
	found := b.store.Look(state(""), name)
	b.must(b.store.As("person").Patch(b.Context(), state(name), merge(`{"spec":{"probeTimeoutSeconds":%d}}`, found.GetGeneration()+1)))
}

func (b *bench) after(d time.Duration, action func()) { b.world.After(d, action) }

func (b *bench) run(d time.Duration) {
	b.Helper()
	b.must(b.world.RunFor(d))
}

func TestWhatAWatchTellsAfterItWasInterrupted(t *testing.T) {
	cases := map[string]struct {
		arrange func(b *bench)
		until   time.Duration
		want    []string
	}{
		"nothing is lost in a short outage": {
			func(b *bench) {
				b.after(10*time.Second, func() { b.down = true })
				b.after(11*time.Second, func() { b.edit("a") })
				b.after(12*time.Second, func() { b.edit("a") })
				b.after(15*time.Second, func() { b.down = false })
			},
			time.Minute,
			[]string{"0s ->a@1", "17s a@1>a@2", "17s a@2>a@3"},
		},
		"nothing is lost in a long outage, but the connection is back later": {
			func(b *bench) {
				b.after(10*time.Second, func() { b.down = true })
				b.after(11*time.Second, func() { b.edit("a") })
				b.after(12*time.Second, func() { b.edit("a") })
				b.after(100*time.Second, func() { b.down = false })
			},
			5 * time.Minute,
			[]string{"0s ->a@1", "1m59s a@1>a@2", "1m59s a@2>a@3"},
		},
		"what the server has compacted is listed: many versions are one, and deletions are found": {
			func(b *bench) {
				b.after(10*time.Second, func() { b.down = true })
				b.after(11*time.Second, func() { b.edit("a") })
				b.after(12*time.Second, func() { b.edit("a") })
				b.after(13*time.Second, func() { b.must(b.store.As("x").Create(b.Context(), state("b"))) })
				b.after(14*time.Second, func() { b.must(b.store.As("x").Create(b.Context(), state("c"))) })
				b.after(15*time.Second, func() { b.must(b.store.As("x").Delete(b.Context(), state("c"))) })
				b.after(400*time.Second, func() { b.down = false })
			},
			10 * time.Minute,
			[]string{"0s ->a@1", "6m46s a@1>a@3", "6m46s ->b@1"},
		},
		"a watch that breaks goes on where it was": {
			func(b *bench) {
				b.store.Faults.Break = func(string, string) (time.Duration, bool) { return 5 * time.Second, false }
				b.after(10*time.Second, func() { b.edit("a") })
				b.after(11*time.Second, func() { b.edit("a") })
			},
			time.Minute,
			[]string{"0s ->a@1", "15s a@1>a@2", "15s a@2>a@3"},
		},
		"a watch that breaks and is compacted lists anew": {
			func(b *bench) {
				b.store.Faults.Break = func(string, string) (time.Duration, bool) { return 5 * time.Second, true }
				b.after(10*time.Second, func() { b.edit("a") })
				b.after(11*time.Second, func() { b.must(b.store.As("x").Delete(b.Context(), state("a"))) })
				b.after(12*time.Second, func() { b.must(b.store.As("x").Create(b.Context(), state("a"))) })
			},
			time.Minute,
			[]string{"0s ->a@1", "15s a@1>a@1"},
		},
		"changes keep their order whatever each of them takes": {
			func(b *bench) {
				delays := []time.Duration{0, 3 * time.Second, time.Second, 0}
				b.store.Faults.Delay = func(string, string) time.Duration {
					d := delays[0]
					if len(delays) > 1 {
						delays = delays[1:]
					}
					return d
				}
				b.after(10*time.Second, func() { b.edit("a") })
				b.after(10*time.Second, func() { b.edit("a") })
				b.after(11*time.Second, func() { b.edit("a") })
			},
			time.Minute,
			[]string{"3s ->a@1", "11s a@1>a@2", "11s a@2>a@3", "11s a@3>a@4"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.must(b.store.As("x").Create(t.Context(), state("a")))
			lines := heard(b, b.cache)
			c.arrange(b)
			b.cache.Start()
			b.run(c.until)
			if diff := cmp.Diff(c.want, *lines); diff != "" {
				t.Error(diff)
			}
			if b.cache.Lag(state("")) != 0 {
				t.Error("something is under way still")
			}
		})
	}
}

func TestACacheThatStartsMayBeShownAnOlderList(t *testing.T) {
	b := newBench(t)
	b.must(b.store.As("x").Create(t.Context(), state("a")))
	b.must(b.store.As("x").Create(t.Context(), state("gone")))
	b.after(20*time.Second, func() { b.edit("a") })
	b.after(21*time.Second, func() { b.must(b.store.As("x").Delete(t.Context(), state("gone"))) })
	b.after(22*time.Second, func() { b.must(b.store.As("x").Create(t.Context(), state("new"))) })
	b.run(30 * time.Second)
	b.store.Faults.Stale = func(string, string) time.Duration { return 15 * time.Second }
	b.store.Faults.Delay = func(string, string) time.Duration { return time.Second }
	lines := heard(b, b.cache)
	b.cache.Start()
	b.run(time.Minute)
	want := []string{"31s ->a@1", "31s ->gone@1", "32s a@1>a@2", "33s gone@1>-", "34s ->new@1"}
	if diff := cmp.Diff(want, *lines); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsLateComesAtOnceWhenTheDelayIsOver(t *testing.T) {
	b := newBench(t)
	b.must(b.store.As("x").Create(t.Context(), state("a")))
	delay := time.Second
	b.store.Faults.Delay = func(string, string) time.Duration { return delay }
	lines := heard(b, b.cache)
	b.cache.Start()
	b.after(9*time.Second, func() { delay = 2 * time.Minute })
	b.after(10*time.Second, func() { b.edit("a") })
	b.after(11*time.Second, func() { b.edit("a") })
	b.after(30*time.Second, func() {
		delay = time.Millisecond
		b.store.Hurry(func(process string) bool { return process == b.process.Name })
	})
	b.run(time.Minute)
	want := []string{"1s ->a@1", "30s a@1>a@2", "30s a@2>a@3"}
	if diff := cmp.Diff(want, *lines); diff != "" {
		t.Error(diff)
	}
}

func TestAListThatIsLateComesAtOnceWhenTheDelayIsOver(t *testing.T) {
	b := newBench(t)
	b.must(b.store.As("x").Create(t.Context(), state("a")))
	delay := 2 * time.Minute
	b.store.Faults.Delay = func(string, string) time.Duration { return delay }
	lines := heard(b, b.cache)
	b.cache.Start()
	b.after(30*time.Second, func() {
		delay = time.Millisecond
		b.store.Hurry(func(process string) bool { return process == b.process.Name })
	})
	b.run(time.Minute)
	if diff := cmp.Diff([]string{"30s ->a@1"}, *lines); diff != "" {
		t.Error(diff)
	}
}

func TestACacheListsOnceItCan(t *testing.T) {
	b := newBench(t)
	b.must(b.store.As("x").Create(t.Context(), state("a")))
	b.down = true
	lines := heard(b, b.cache)
	b.cache.Start()
	b.after(time.Minute, func() { b.down = false })
	c := b.way.Client(b.cache)
	b.do(func(ctx context.Context) {
		short, cancel := context.WithCancel(ctx)
		b.process.After(10*time.Second, cancel)
		if err := c.Get(short, client.ObjectKey{Name: "a"}, state("")); !apierrors.IsTimeout(err) {
			t.Errorf("got %v", err)
		}
		b.must(c.Get(ctx, client.ObjectKey{Name: "a"}, state("")))
	})
	if len(*lines) != 1 || !b.cache.Synced() {
		t.Errorf("heard %v", *lines)
	}
}

func TestADeadProcessHearsNothing(t *testing.T) {
	b := newBench(t)
	lines := heard(b, b.cache)
	b.cache.Start()
	b.run(time.Minute)
	b.process.Kill()
	b.must(b.store.As("x").Create(t.Context(), state("a")))
	b.run(time.Minute)
	if len(*lines) != 0 || !b.world.Idle() {
		t.Errorf("heard %v", *lines)
	}
}

func TestWritesAreToldWithTheirParts(t *testing.T) {
	b := newBench(t)
	var lines []string
	b.store.Written(func(w apiserver.Write) {
		lines = append(lines, fmt.Sprintf("%s %s %s/%s %q %v %v %v", w.Process, w.Verb, w.Kind, w.Name, w.Subresource, w.Metadata, w.Spec, w.Status))
	})
	api, node := b.store.As("person"), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	b.must(api.Create(t.Context(), node))
	owned := state("n1")
	owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n1", UID: node.UID}}
	b.do(func(ctx context.Context) { b.must(b.way.Client(nil).Create(ctx, owned)) })
	b.edit("n1")
	b.must(api.Status().Patch(t.Context(), state("n1"), merge(`{"status":{"handlerVersion":"1"}}`)))
	b.must(api.Patch(t.Context(), state("n1"), merge(`{"metadata":{"labels":{"a":"b"}}}`)))
	b.must(api.Patch(t.Context(), state("n1"), merge(`{}`)))
	b.must(api.Delete(t.Context(), node))
	b.run(time.Minute)
	want := []string{
		`person create Node/n1 "" true true true`,
		`n1 create NodeNetworkState/n1 "" true true true`,
		`person patch NodeNetworkState/n1 "" false true false`,
		`person patch NodeNetworkState/n1 "status" false false true`,
		`person patch NodeNetworkState/n1 "" true false false`,
		`person delete Node/n1 "" true true true`,
		`garbage-collector delete NodeNetworkState/n1 "" true true true`,
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
	if n := b.store.Requests()[apiserver.Count{Process: "n1", Verb: "create", Kind: "NodeNetworkState"}]; n != 1 {
		t.Errorf("%d requests are counted", n)
	}
}

func TestTheServerAnswersAsFaultsSay(t *testing.T) {
	b := newBench(t)
	b.must(b.store.As("x").Create(t.Context(), state("a")))
	b.store.Faults.Answer = func(r apiserver.Request) error {
		if r.Verb != "patch" {
			return nil
		}
		return apierrors.NewTooManyRequests("calm down", 1)
	}
	b.do(func(ctx context.Context) {
		api := b.way.Client(nil)
		if err := api.Patch(ctx, state("a"), merge(`{"metadata":{"labels":{"a":"b"}}}`)); !apierrors.IsTooManyRequests(err) {
			t.Errorf("got %v", err)
		}
		got := state("")
		b.must(b.way.Live().Get(ctx, client.ObjectKey{Name: "a"}, got))
		if len(got.Labels) != 0 {
			t.Error("it was done all the same")
		}
	})
}

func TestEventsAreKeptWithTheirObjects(t *testing.T) {
	b := newBench(t)
	var kept apiserver.Events
	recorder := kept.Recorder(b.process)
	recorder.Eventf(state("a"), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, "Warning", "Overruled", "Configure", "by %s", "x")
	recorder.Eventf(state("b"), nil, "Normal", "Other", "Configure", "y")
	b.process.Kill()
	recorder.Eventf(state("a"), nil, "Normal", "Late", "Configure", "z")
	got := kept.About("NodeNetworkState", "a")
	if len(got) != 1 || got[0].Note != "by x" || got[0].Related != "n" || len(kept.All()) != 2 {
		t.Errorf("got %+v", kept.All())
	}
}

func TestWhatIsNotModelledPanicsWithItsName(t *testing.T) {
	b := newBench(t)
	api := b.store.As("x")
	ctx := t.Context()
	cases := map[string]func(){
		"Service":     func() { _ = api.Create(ctx, &corev1.Service{}) },
		"ServiceList": func() { _ = api.List(ctx, &corev1.ServiceList{}) },
		"application/strategic-merge-patch": func() {
			b.must(api.Create(ctx, state("j")))
			_ = api.Patch(ctx, state("j"), client.RawPatch(types.StrategicMergePatchType, nil))
		},
		"DryRun":            func() { _ = api.Create(ctx, state("d"), client.DryRunAll) },
		"Limit":             func() { _ = api.List(ctx, &v1.NodeNetworkStateList{}, client.Limit(3)) },
		"PropagationPolicy": func() { _ = api.Delete(ctx, state("a"), client.PropagationPolicy("Foreground")) },
		"apply":             func() { _ = api.Apply(ctx, nil) },
		"delete of all":     func() { _ = api.DeleteAllOf(ctx, state("a")) },
		"scale":             func() { api.SubResource("scale") },
		"generateName":      func() { _ = api.Create(ctx, &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{GenerateName: "a"}}) },
		"field selectors":   func() { _ = api.List(ctx, &v1.NodeNetworkStateList{}, client.MatchingFields{"a": "b"}) },
		"SyncPeriod":        func() { b.way.Cache(cache.Options{SyncPeriod: new(time.Minute)}) },
	}
	for word, task := range cases {
		t.Run(word, func(t *testing.T) {
			defer func() {
				if r := fmt.Sprint(recover()); !strings.Contains(r, word) {
					t.Errorf("it panicked with %s", r)
				}
			}()
			task()
		})
	}
}

package watch

import (
	"context"
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	testingclock "k8s.io/utils/clock/testing"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// server answers as an API server that is at a version, or is away.
type server struct {
	at    string
	away  bool
	lists int
}

var errAway = errors.New("connection refused")

func (s *server) reads() *toolscache.ListWatch {
	return &toolscache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			if s.away {
				return nil, errAway
			}
			s.lists++
			return &v1.NodeNetworkStateList{ListMeta: metav1.ListMeta{ResourceVersion: s.at}}, nil
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			if s.away {
				return nil, errAway
			}
			return watch.NewFake(), nil
		},
	}
}

func TestARestoreIsNoticedWhenAWatchGoesOn(t *testing.T) {
	// A step is the API server's version, empty while it is away, and the version from which
	// the watch goes on; those before it have lasted for their whole time, or were broken.
	type step struct {
		at, from string
		broken   bool
	}
	tests := map[string]struct {
		steps    []step
		restored bool
		lists    int
	}{
		"nothing is asked while watches end and go on":              {steps: []step{{at: "100", from: "50"}, {at: "100", from: "90"}, {at: "100", from: "100"}}},
		"after an outage the version is asked for once":             {steps: []step{{at: "100", from: "50"}, {from: "90"}, {from: "90"}, {at: "120", from: "90"}, {at: "120", from: "120"}}, lists: 1},
		"so it is after a watch that ended early":                   {steps: []step{{at: "100", from: "50"}, {at: "120", from: "90", broken: true}, {at: "120", from: "120"}}, lists: 1},
		"an API server that is at an older version was restored":    {steps: []step{{at: "100", from: "50"}, {from: "90"}, {at: "80", from: "90"}}, restored: true, lists: 1},
		"also one that answers as if it had never been away":        {steps: []step{{at: "100", from: "50"}, {at: "80", from: "90", broken: true}}, restored: true, lists: 1},
		"one where nothing was written meanwhile was not":           {steps: []step{{at: "100", from: "50"}, {from: "100"}, {at: "100", from: "100"}}, lists: 1},
		"nor one whose revisions were bumped":                       {steps: []step{{at: "100", from: "50"}, {from: "90"}, {at: "1000000080", from: "90"}}, lists: 1},
		"the cache begins anew, and its last version is remembered": {steps: []step{{at: "100", from: "50"}, {from: "90"}, {at: "80"}}, restored: true, lists: 1},
		"a process that begins while the API server is away":        {steps: []step{{}, {at: "80"}, {at: "80", from: "80"}}},
		"an API server whose versions are no numbers is believed":   {steps: []step{{at: "b", from: "a"}, {from: "b"}, {at: "a", from: "b"}}},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			s := &server{}
			wall := testingclock.NewFakePassiveClock(time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC))
			restores, lasts := NewRestores(wall, &v1.NodeNetworkState{}), int64(300)
			watched := restores.looksAt(s.reads())
			for _, step := range test.steps {
				s.at, s.away = step.at, step.at == ""
				if wall.SetTime(wall.Now().Add(time.Second)); !step.broken {
					wall.SetTime(wall.Now().Add(5 * time.Minute))
				}
				_, err := watched.WatchWithContext(t.Context(), metav1.ListOptions{ResourceVersion: step.from, TimeoutSeconds: &lasts})
				if s.away != errors.Is(err, errAway) {
					t.Errorf("from %s on: %v", step.from, err)
				}
			}
			over, end := context.WithCancel(t.Context())
			if !test.restored {
				end()
			}
			defer end()
			if err := restores.Start(over); errors.Is(err, ErrRestored) != test.restored {
				t.Errorf("the process ends with %v", err)
			}
			if s.lists != test.lists {
				t.Errorf("it was asked for its version %d times, want %d", s.lists, test.lists)
			}
		})
	}
}

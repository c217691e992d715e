package agent

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/probe"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

const eth0Script = profiles.ScriptsDir + "/nmstate-eth0-up.sh"

// scripted is a host with scripts on its disk, of which no checkpoint knows.
type scripted struct {
	*host
	mu    sync.Mutex
	files profiles.Files
	// ran are the devices whose scripts were run.
	ran []string
}

func (s *scripted) Show(ctx context.Context) (state.State, error) {
	shown, err := s.host.Show(ctx)
	return shown.WithScripts(s.scripts().Texts()), err
}

func (s *scripted) Apply(ctx context.Context, desired state.State, life time.Duration, armed func(backend.Checkpoint)) (backend.Checkpoint, profiles.Files, error) {
	return s.host.Apply(ctx, desired.ForTrial(), life, armed)
}

func (s *scripted) Profiles(ctx context.Context) (profiles.Snapshot, error) {
	found, err := s.host.Profiles(ctx)
	found.Scripts = s.scripts()
	return found, err
}

func (s *scripted) Do(ctx context.Context, action profiles.Action) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case action.Verb == profiles.Reapply:
		s.ran = append(s.ran, action.Device)
	case !strings.HasPrefix(action.Path, profiles.ScriptsDir):
		return s.host.Do(ctx, action)
	case action.Verb == profiles.Write:
		s.files[action.Path] = action.File
	default:
		delete(s.files, action.Path)
	}
	return nil
}

func (s *scripted) scripts() profiles.Files {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.files)
}

func (s *scripted) runs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ran
}

// cutting probes are lost while a script says so.
type cutting struct {
	probes
	host *scripted
}

func (c cutting) Probe(ctx context.Context, name string) error {
	for _, file := range c.host.scripts() {
		if strings.Contains(string(file.Content), "cut") {
			return errors.New(name + ": no answer")
		}
	}
	return c.probes.Probe(ctx, name)
}

// scriptedNode is a node with an administrator's script, in whose name nmstate writes.
func scriptedNode(t *testing.T) (*node, *scripted) {
	t.Helper()
	n := newNode(t)
	s := &scripted{host: n.host, files: profiles.Files{eth0Script: {Mode: 0o755, Content: []byte("#!/bin/sh\n# by hand\n")}}}
	return n, s
}

func (s *scripted) allowed(allowed bool) func(*Options) {
	return func(o *Options) {
		o.Backend, o.Commands = s, allowed
		quick(o)
		o.Prober = cutting{probes{host: s.host}, s}
	}
}

// wantScript writes what a policy wants of eth0; an empty script is a policy that has gone.
func (n *node) wantScript(generation int64, script string) {
	n.t.Helper()
	n.edit(func(nns *v1.NodeNetworkState) {
		nns.Generation = generation
		nns.Spec.DesiredState, nns.Spec.Sources = v1.State{}, nil
		if script == "" {
			return
		}
		nns.Spec.DesiredState = v1.NewState([]byte(`{"interfaces":[{"name":"eth0","type":"ethernet","state":"up","dispatch":{"post-activation":"` + script + `"}}]}`))
		nns.Spec.Sources = []v1.DesiredSource{{
			Source: v1.Source{Policy: "p", Generation: generation, Hash: script}, OnDelete: "Revert", Paths: []string{"interfaces[eth0]"},
		}}
	})
}

func TestAScriptIsThereFromTheProofOnAndGoesBackByteForByte(t *testing.T) {
	t.Parallel()
	n, s := scriptedNode(t)
	n.handler(s.allowed(true))
	before := s.scripts()
	n.wantScript(2, "true")
	if got := n.outcome(2); got.Result != v1.TransactionCommitted {
		t.Fatalf("outcome: %+v", got)
	}
	want := profiles.Files{eth0Script: {Mode: 0o744, Content: []byte(state.ScriptContent("eth0", state.PostActivation, "true"))}}
	if diff := cmp.Diff(want, s.scripts()); diff != "" {
		t.Errorf("committed (-want +got):\n%s", diff)
	}
	n.wantScript(3, "true # again")
	n.outcome(3)
	if diff := cmp.Diff([]string{"eth0", "eth0"}, s.runs()); diff != "" {
		t.Errorf("what ran (-want +got):\n%s", diff)
	}
	n.wantScript(4, "")
	if got := n.outcome(4); got.Result != v1.TransactionCommitted {
		t.Fatalf("outcome of the removal: %+v", got)
	}
	if diff := cmp.Diff(before, s.scripts()); diff != "" {
		t.Errorf("undone (-before +now):\n%s", diff)
	}
	if known := n.record().Scripts; len(known) != 0 {
		t.Errorf("still remembered: %v", known)
	}
}

func TestAScriptThatCutsTheNodeOffGoesBack(t *testing.T) {
	t.Parallel()
	n, s := scriptedNode(t)
	n.handler(s.allowed(true))
	before := s.scripts()
	n.wantScript(2, "cut")
	got := n.outcome(2)
	if got.Result != v1.TransactionRolledBack || !strings.Contains(got.Message, "with the scripts of the change: "+probe.APIServer) {
		t.Errorf("outcome: %+v", got)
	}
	if diff := cmp.Diff(before, s.scripts()); diff != "" {
		t.Errorf("taken back (-before +now):\n%s", diff)
	}
}

func TestAScriptThatSomebodyChangesIsDrift(t *testing.T) {
	t.Parallel()
	n, s := scriptedNode(t)
	a, _ := n.handler(s.allowed(true))
	n.wantScript(2, "true")
	n.outcome(2)
	want := s.scripts()
	s.mu.Lock()
	s.files[eth0Script] = profiles.File{Mode: 0o755, Content: append(want[eth0Script].Content, "true\n"...)}
	s.mu.Unlock()
	a.NetworkChanged()
	n.until("it is put right", func() bool { return cmp.Equal(want, s.scripts()) })
}

func TestAScriptIsRefusedWhereNoneIsAllowedAndStaysFromWhenItWas(t *testing.T) {
	t.Parallel()
	n, s := scriptedNode(t)
	_, kill := n.handler(s.allowed(true))
	n.wantScript(2, "true")
	n.outcome(2)
	kill()
	before := s.scripts()
	n.handler(s.allowed(false))
	n.wantScript(3, "false")
	if got := n.outcome(3); got.Result != v1.TransactionRefused || !strings.Contains(got.Message, "interfaces[eth0].dispatch is refused") {
		t.Errorf("another script: %+v", got)
	}
	n.edit(func(nns *v1.NodeNetworkState) {
		nns.Generation = 4
		nns.Spec.DesiredState = v1.NewState([]byte(`{"interfaces":[{"name":"eth0","type":"ethernet","state":"up","mtu":1400,"dispatch":{"post-activation":"true"}}]}`))
	})
	if got := n.outcome(4); got.Result != v1.TransactionCommitted {
		t.Errorf("another MTU: %+v", got)
	}
	if diff := cmp.Diff(before, s.scripts()); diff != "" {
		t.Errorf("the scripts (-before +now):\n%s", diff)
	}
}

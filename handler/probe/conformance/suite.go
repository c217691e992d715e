package conformance

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/probe"
)

// Subject is a Prober whose targets all answer, and a way to take them away.
type Subject struct {
	Prober probe.Prober
	// Targets are probes of a policy, such as "tcp 192.0.2.1:80", whose targets
	// are there too.
	Targets []string
	// Clock paces the repetition of a probe.
	Clock deadline.Clock
	// Cut makes the target of a probe, and maybe those of others, unreachable.
	Cut func(name string)
	// Mend takes a Cut back.
	Mend func(name string)
}

// all are the default probes and those of targets.
func (s Subject) all() []string { return append(s.Prober.Names(), s.Targets...) }

const (
	// attempt is more than a live target takes, and bounds a dead one.
	attempt = time.Second
	// patience is how long a target may take to answer again after a Mend.
	patience = time.Minute
)

// Run tests a Prober. Every test opens a subject of its own.
func Run(t *testing.T, open func(t *testing.T) Subject) {
	var all []string
	t.Run("the names are there, unique and always the same", func(t *testing.T) { all = names(t, open(t)) })
	t.Run("an unknown probe, and one without a target that makes sense, fail", func(t *testing.T) { unknown(t, open(t)) })
	t.Run("every probe passes on a live target", func(t *testing.T) { live(t, open(t)) })
	t.Run("no probe passes after its context ended", func(t *testing.T) { ended(t, open(t)) })
	t.Run("each target of a default probe is asked by its address, and one that nobody has fails", func(t *testing.T) { targets(t, open(t)) })
	for _, name := range all {
		t.Run(name+" fails on a dead target and passes on the mended one", func(t *testing.T) { dead(t, open(t), name) })
	}
}

func names(t *testing.T, s Subject) []string {
	first := s.Prober.Names()
	if len(first) == 0 {
		t.Fatal("there are no probes")
	}
	if sorted := slices.Sorted(slices.Values(first)); len(slices.Compact(sorted)) != len(first) || sorted[0] == "" {
		t.Errorf("empty or doubled names: %q", first)
	}
	for _, name := range first {
		_ = probe.Once(t.Context(), s.Clock, s.Prober, []string{name}, attempt)
	}
	if second := s.Prober.Names(); !slices.Equal(first, second) {
		t.Errorf("first %q, then %q", first, second)
	}
	return s.all()
}

func unknown(t *testing.T, s Subject) {
	for _, name := range []string{"no-such-probe", "no-such-type 192.0.2.1", "ping 0.0.0.0", "dns 192.0.2.1", "tcp 192.0.2.1", "http 192.0.2.1", "confirm", "confirm me"} {
		ctx, cancel := deadline.After(t.Context(), s.Clock, attempt)
		err := s.Prober.Probe(ctx, name)
		cancel()
		if err == nil || !strings.HasPrefix(err.Error(), name+": ") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func live(t *testing.T, s Subject) {
	for _, name := range s.all() {
		eventually(t, s, name)
	}
}

// nobody has this address.
var nobody = netip.MustParseAddr("192.0.2.250")

func targets(t *testing.T, s Subject) {
	asked := 0
	for _, name := range s.Prober.Names() {
		eventually(t, s, name)
		found, err := s.Prober.Targets(t.Context(), name)
		if err != nil || len(found) == 0 {
			continue
		}
		asked++
		ask := func(groups ...[]netip.Addr) error {
			ctx, cancel := deadline.After(t.Context(), s.Clock, attempt)
			defer cancel()
			return s.Prober.Ask(ctx, name, groups)
		}
		first := found[0].Address
		if err := ask([]netip.Addr{first}); err != nil {
			t.Errorf("%s at %s: %v", name, first, err)
		}
		if err := ask([]netip.Addr{nobody, first}); err != nil {
			t.Errorf("%s at one of two: %v", name, err)
		}
		err = ask([]netip.Addr{first}, []netip.Addr{nobody})
		if err == nil || !strings.HasPrefix(err.Error(), name+": "+nobody.String()) || strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("%s at each of two: %v", name, err)
		}
	}
	if asked == 0 {
		t.Skip("no default probe has targets")
	}
	if err := s.Prober.Ask(t.Context(), "no-such-probe", [][]netip.Addr{{nobody}}); err == nil {
		t.Error("an unknown probe has targets")
	}
}

func ended(t *testing.T, s Subject) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, name := range s.all() {
		if err := s.Prober.Probe(ctx, name); err == nil {
			t.Errorf("%s passed", name)
		}
	}
}

func dead(t *testing.T, s Subject, name string) {
	eventually(t, s, name)
	s.Cut(name)
	err := probe.Once(t.Context(), s.Clock, s.Prober, []string{name}, attempt)[name]
	switch {
	case err == nil:
		t.Fatal("it passed")
	case !strings.HasPrefix(err.Error(), name+": ") || strings.ContainsAny(err.Error(), "\n\r"):
		t.Errorf("not one line that starts with the name: %q", err)
	}
	// The same Prober, so that whatever it kept of the dead target would show.
	s.Mend(name)
	eventually(t, s, name)
}

func eventually(t *testing.T, s Subject, name string) {
	t.Helper()
	ctx, cancel := deadline.After(t.Context(), s.Clock, patience)
	defer cancel()
	if err := probe.Until(ctx, s.Clock, s.Prober, name, attempt/10, attempt); err != nil {
		t.Fatalf("it does not pass: %v", err)
	}
}

package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// unwilling refuses every apply, and notes on which files it was asked for one.
type unwilling struct {
	backend.Backend
	on profiles.Files
}

func (u *unwilling) Apply(ctx context.Context, _ state.State, _ time.Duration, _ func(backend.Checkpoint)) (backend.Checkpoint, profiles.Files, error) {
	now, err := u.Profiles(ctx)
	if err != nil {
		return "", nil, err
	}
	u.on = now.Files
	return "", nil, fmt.Errorf("%w: not today", backend.ErrInvalid)
}

func TestNameServersThatWereTakenOutOfAProfileAreBackWhenNothingIsApplied(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.host.layers.put(fileOf(profiles.DiskDir, "eth0"), profiles.File{Mode: 0o600,
		Content: []byte("[connection]\nid=eth0\nuuid=eth0\ninterface-name=eth0\n[ipv4]\nmethod=manual\ndns=192.0.2.53;\n")})
	n.host.layers.put(profiles.DNSFile, profiles.File{Mode: 0o644, Content: []byte("[.intern.global-dns-domain-*]\nservers=192.0.2.53\n")})
	before, err := n.host.Profiles(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	asked := &unwilling{Backend: n.host}
	n.handler(func(o *Options) { o.Backend = asked })
	n.edit(func(nns *v1.NodeNetworkState) {
		nns.Generation = 2
		nns.Spec.DesiredState = v1.NewState([]byte(`{"interfaces":[{"name":"eth0","type":"ethernet","state":"up","ipv4":{"enabled":false}}]}`))
		nns.Spec.Sources = []v1.DesiredSource{{Source: v1.Source{Policy: "p", Generation: 1, Hash: "h"}}}
	})
	if got := n.outcome(2); got.Result != v1.TransactionRefused || !strings.Contains(got.Message, "not today") {
		t.Errorf("outcome %+v, want it refused", got)
	}
	tried := asked.on[fileOf(profiles.RunDir, "eth0")]
	if text := string(tried.Content); !strings.Contains(text, "uuid=eth0") || strings.Contains(text, "dns=") {
		t.Errorf("nmstate was asked with this profile in memory:\n%s", text)
	}
	after, err := n.host.Profiles(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before.Files, after.Files); diff != "" {
		t.Errorf("-before +after\n%s", diff)
	}
}

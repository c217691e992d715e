//go:build linux

package trial

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// Window is how long the guards of a trial have, but for the person.
const Window = 6 * time.Second

// Ending is how a trial ends: something is struck as soon as the transaction
// enters a phase.
type Ending struct {
	Name  string
	Phase txn.Phase
	// Boots: the node boots, so that its handler is held until the API server can
	// be reached again.
	Boots bool
	// person has that many seconds: few bring the way back about, many hold the
	// trial in Probing.
	person int32
	strike func(context.Context, *lab.Node) error
}

const (
	holds = 60
	loses = 1
)

// phasesToCut are all phases in which something of a trial is on the node.
var phasesToCut = []txn.Phase{txn.Applying, txn.Probing, txn.Committing, txn.RollingBack, txn.Settling}

// PowerCuts are power cuts in each phase.
func PowerCuts() []Ending {
	var all []Ending
	for _, phase := range phasesToCut {
		all = append(all, PowerCut(phase))
	}
	return all
}

// PowerCut in a phase.
func PowerCut(phase txn.Phase) Ending {
	e := Ending{Name: "power cut in " + string(phase), Phase: phase, Boots: true}
	switch phase {
	case txn.Applying, txn.Probing:
		e.person = holds
	case txn.RollingBack, txn.Settling:
		e.person = loses
	}
	return e
}

// Others are the endings beside power cuts.
func Others() []Ending {
	return []Ending{
		{Name: "guard lost", Phase: txn.RollingBack, person: loses, strike: nothing},
		{Name: "handler killed", Phase: txn.Probing, person: holds, strike: killHandler},
		{Name: "NetworkManager killed", Phase: txn.Probing, person: holds, strike: killNM},
		{Name: "handler and NetworkManager killed", Phase: txn.Probing, person: holds, strike: killBoth},
		{Name: "reboot", Phase: txn.Probing, person: holds, Boots: true, strike: syncDisk},
	}
}

func syncDisk(_ context.Context, n *lab.Node) error { return n.Sync() }

func nothing(context.Context, *lab.Node) error { return nil }

func killHandler(ctx context.Context, n *lab.Node) error { return n.Handler(ctx, "kill") }

func killNM(ctx context.Context, n *lab.Node) error {
	return errors.Join(n.NM(ctx, "kill"), n.NM(ctx, "start"))
}

// killBoth ends both before either is back: the handler's second begins when it
// is killed.
func killBoth(ctx context.Context, n *lab.Node) error {
	return errors.Join(n.NM(ctx, "kill"), n.Handler(ctx, "kill"), n.NM(ctx, "start"))
}

// Find an ending by its name.
func Find(name string) (Ending, error) {
	for _, e := range append(PowerCuts(), Others()...) {
		if e.Name == name {
			return e, nil
		}
	}
	return Ending{}, fmt.Errorf("no ending %q", name)
}

package scenario

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

const usageAdvance = "advance DURATION"

// commands are all that a line of a script can be.
var commands = []form{
	// What is needed, before everything else.
	{usage: "nodes COUNT", means: "so many nodes; 1 without it", sets: setNodes},
	{usage: "switch SWITCH SETTING...", means: "one more Ethernet segment, or what lan has beside its gateway", sets: setSwitch},
	{usage: "nic NODES NIC SWITCH [ADDRESS] [ADDRESS6]", means: "one more NIC, or one on another switch or with other addresses", sets: setNIC},
	{usage: "needs FEATURE", means: "the kernel or the host must have it; the lab lists what it lacks", sets: func(p *parser, a Args) error { p.scenario.needs(a["FEATURE"]); return nil }},
	{usage: "lab seldom", means: "the lab runs it only when it is asked for all of them", sets: func(p *parser, _ Args) error { p.scenario.Seldom = true; return nil }},
	{usage: "shows life|cut-off|power TOPOLOGY", means: "it is the scenario that shows this of a topology of e2e/lab/topologies", sets: setShows},
	{usage: "mode centralized|distributed", means: "at the beginning: as it is; later: the cluster is brought into it", sets: setMode, does: doMode},

	// People and the cluster.
	{usage: "apply FILE", means: "create the objects of the file, or give them its spec", does: doApply},
	{usage: "delete policy|state NAME", means: "delete a policy, or a node's NodeNetworkState", does: doDelete},
	{usage: "label NODES LABEL", means: "set or remove a label of the Node", does: doLabel},
	{usage: "taint NODES TAINT", means: "set or remove a taint of the Node", does: doTaint},
	{usage: "annotate policy|state|node NAME LABEL", means: "set or remove an annotation", does: doAnnotate},
	{usage: "ready NODES", means: "the Node is Ready", does: doReady(true)},
	{usage: "unready NODES", means: "the Node is not Ready", does: doReady(false)},
	{usage: "manage NODES", means: "spec.managed: true", does: doManage(true)},
	{usage: "unmanage NODES", means: "spec.managed: false", does: doManage(false)},
	{usage: "desire NODE FILE", means: "write spec.desiredState of the NodeNetworkState by hand", does: doDesire},
	{usage: "confirm policy|state NAME", means: "confirm the present generation", does: doConfirm},
	{usage: "pin policy NAME", means: "spec.planHashes: what status.plans has; mode: Apply", does: doPin},
	{usage: "add node COUNT", means: "node of that number joins the cluster", notes: func(p *parser, a Args) {
		p.scenario.Topology.Later = append(p.scenario.Topology.Later, "node"+a["COUNT"])
	}, does: doAdd},
	{usage: "remove NODE", means: "the node leaves the cluster", does: doRemove},
	{usage: "precede NODES", means: "the older project had the node until now, and ours never was there; its handler is stopped", does: doPrecede},
	{usage: "once NODE [fails TEXT]", means: "one pass of the node's handler, whose daemon is stopped; its exit code and last words", does: doOnce},

	// What happens to a node.
	{usage: "kill|stop|start|restart handler NODES [in PHASE]", means: "the handler's process, in a phase of a transaction that the last command brought about", does: doHandler, looks: true},
	{usage: "kill|stop|start|restart networkmanager NODES [in PHASE]", means: "NetworkManager", does: doNetworkManager, looks: true},
	{usage: "kill|stop|start|restart controllers", means: "the controllers", does: doPart("controllers")},
	{usage: "kill|stop|start|restart apiserver", means: "the API server", does: doPart("apiserver")},
	{usage: "reboot NODES [in PHASE]", means: "reboot; disks stay", does: doReboot, looks: true},
	{usage: "cut api|gateway|dns [NODE] [in PHASE]", means: "take it out of a node's reach, or of all", does: doCut, looks: true},
	{usage: "heal", means: "no cut is left", does: func(ctx context.Context, r *run, _ *Step) error { return r.Heal(ctx) }, looks: true},
	{usage: "carrier NODE NIC up|down [in PHASE]", means: "what is plugged into a NIC", does: doCarrier, looks: true},
	{usage: "plug NODE NIC", means: "put a NIC in", does: doPlug(true)},
	{usage: "unplug NODE NIC", means: "pull a NIC out", does: doPlug(false)},
	{usage: "drift NODES TEXT...", means: "change the node by hand: 'mtu eth1 1300', 'address del eth1 198.18.0.5/24', 'route add 10.9.0.0/24 via 192.0.2.1 dev eth0', 'link add NAME bridge'", does: doDrift},
	{usage: "claim SWITCH HOST", means: "another host of the switch uses the address", does: doClaim(true)},
	{usage: "release SWITCH HOST", means: "it does no more", does: doClaim(false)},
	{usage: "dhcp SWITCH silent|answers", means: "the switch's DHCP server answers nobody, or as before", does: doDHCP},
	{usage: "dhcp SWITCH other RANGE", means: "another server is in its place, which leases other addresses", does: doOtherDHCP},
	{usage: "disk NODES full|read-only|writable [in PHASE]", means: "nothing can be written below /etc and /var, or as before; full needs disk-image", does: doDisk, looks: true},
	{usage: "clock STEP [in PHASE]", means: "the clock of all nodes is stepped; a lab needs own-clock for it", does: doClock, looks: true},

	// Looking.
	{usage: "mark NEWMARK", means: "remember every node as it is", does: func(ctx context.Context, r *run, s *Step) error { return r.mark(ctx, s.Args["NEWMARK"]) }, looks: true, watches: true},
	{usage: "await [within DURATION] CHECK", means: "wait until the check holds", does: doAwait, looks: true, watches: true},
	{usage: "expect CHECK", means: "the check holds now", does: doExpect, looks: true, watches: true},
	{usage: "hold DURATION CHECK", means: "the check holds all the time", does: doHold, looks: true, watches: true},
	{usage: "quiet DURATION", means: "wait until nothing was written to the API for so long", does: doQuiet, looks: true, watches: true},
	{usage: usageAdvance, means: "let time pass", does: doAdvance, looks: true, watches: true},
}

func setNodes(p *parser, a Args) error {
	n, _ := strconv.Atoi(a["COUNT"])
	if p.counted || n == 0 || len(p.scenario.Topology.Switches) != 2 || len(p.scenario.Topology.Nodes[0].NICs) != 3 {
		return errors.New("nodes is said once, before switches and NICs, and there is at least one")
	}
	p.counted = true
	p.scenario.Topology = newTopology(n)
	return nil
}

func setSwitch(p *parser, a Args) error {
	return p.scenario.Topology.wire(a["SWITCH"], a.list("SETTING"))
}

func setNIC(p *parser, a Args) error {
	address := a["ADDRESS"]
	if address == "" {
		address = "none"
	}
	return p.scenario.Topology.plug(a["NODES"], NIC{Name: a["NIC"], Switch: a["SWITCH"], Address: address, Address6: a["ADDRESS6"]})
}

func setShows(p *parser, a Args) error {
	p.scenario.Shows = append(p.scenario.Shows, Shown{What: a["life|cut-off|power"], Topology: a["TOPOLOGY"]})
	return nil
}

func setMode(p *parser, a Args) error {
	p.scenario.Centralized = a["centralized|distributed"] == "centralized"
	return nil
}

func doMode(ctx context.Context, r *run, s *Step) error {
	return r.Mode(ctx, s.Args["centralized|distributed"] == "centralized")
}

// struck waits for the phase that a command names.
func (r *run) struck(ctx context.Context, a Args, node string) error {
	if a["PHASE"] == "" {
		return nil
	}
	return r.Enter(ctx, node, a["PHASE"])
}

const verbs = "kill|stop|start|restart"

func doHandler(ctx context.Context, r *run, s *Step) error { return r.part(ctx, s, "handler") }

func doNetworkManager(ctx context.Context, r *run, s *Step) error {
	return r.part(ctx, s, "networkmanager")
}

func (r *run) part(ctx context.Context, s *Step, part string) error {
	return r.each(s.Args["NODES"], func(node string) error {
		if b, can := r.Backend.(InPhase); can && s.Args["PHASE"] != "" {
			if done, err := b.ProcessIn(ctx, s.Args[verbs], part, node, s.Args["PHASE"]); done || err != nil {
				return err
			}
		}
		if err := r.struck(ctx, s.Args, node); err != nil {
			return err
		}
		return r.Process(ctx, s.Args[verbs], part, node)
	})
}

func doPart(part string) doing {
	return func(ctx context.Context, r *run, s *Step) error { return r.Process(ctx, s.Args[verbs], part, "") }
}

func doReboot(ctx context.Context, r *run, s *Step) error {
	return r.each(s.Args["NODES"], func(node string) error {
		if err := r.struck(ctx, s.Args, node); err != nil {
			return err
		}
		return r.Reboot(ctx, node)
	})
}

func doCut(ctx context.Context, r *run, s *Step) error {
	node := s.Args["NODE"]
	if s.Args["PHASE"] != "" {
		watched := node
		if watched == "" {
			watched = r.scenario.Topology.Nodes[0].Name
		}
		if err := r.struck(ctx, s.Args, watched); err != nil {
			return err
		}
	}
	return r.Cut(ctx, s.Args["api|gateway|dns"], node)
}

func doCarrier(ctx context.Context, r *run, s *Step) error {
	if err := r.struck(ctx, s.Args, s.Args["NODE"]); err != nil {
		return err
	}
	return r.Carrier(ctx, s.Args["NODE"], s.Args["NIC"], s.Args["up|down"] == "up")
}

func doPlug(in bool) doing {
	return func(ctx context.Context, r *run, s *Step) error {
		return r.Plug(ctx, s.Args["NODE"], s.Args["NIC"], in)
	}
}

func doDrift(ctx context.Context, r *run, s *Step) error {
	return r.each(s.Args["NODES"], func(node string) error {
		for _, change := range s.Args.list("TEXT") {
			if err := r.Drift(ctx, node, strings.Fields(change)); err != nil {
				return err
			}
		}
		return nil
	})
}

func doAdd(ctx context.Context, r *run, s *Step) error {
	number, _ := strconv.Atoi(s.Args["COUNT"])
	return r.AddNode(ctx, number)
}

func doRemove(ctx context.Context, r *run, s *Step) error { return r.RemoveNode(ctx, s.Args["NODE"]) }

func doOnce(ctx context.Context, r *run, s *Step) error {
	code, said, err := r.Once(ctx, s.Args["NODE"])
	switch part, fails := s.Args["TEXT"]; {
	case err != nil:
		return err
	case !fails && code != 0:
		return fmt.Errorf("exit code %d: %s", code, said)
	case fails && (code == 0 || !strings.Contains(said, part)):
		return fmt.Errorf("exit code %d: %s; want a failure that says %q", code, said, part)
	}
	return nil
}

func doAwait(ctx context.Context, r *run, s *Step) error {
	return r.await(ctx, s.Check, span(s.Args["DURATION"], r.Patience()))
}

func doExpect(ctx context.Context, r *run, s *Step) error {
	wrong, err := r.holds(ctx, s.Check)
	if err == nil && wrong != "" {
		err = errors.New(wrong)
	}
	return err
}

func doHold(ctx context.Context, r *run, s *Step) error {
	wrong := ""
	broken, err := r.Until(ctx, span(s.Args["DURATION"], 0), func() (bool, error) {
		var err error
		wrong, err = r.holds(ctx, s.Check)
		return wrong != "", err
	})
	if err == nil && broken {
		err = errors.New(wrong)
	}
	return err
}

// doQuiet waits for a silence and so passes only where one begins in time.
func doQuiet(ctx context.Context, r *run, s *Step) error {
	long := span(s.Args["DURATION"], 0)
	count, last, err := r.Writes(ctx)
	if err != nil {
		return err
	}
	since := r.Elapsed()
	quiet, err := r.Until(ctx, r.Patience()+long, func() (bool, error) {
		now, said, err := r.Writes(ctx)
		if now != count {
			count, last, since = now, said, r.Elapsed()
		}
		return r.Elapsed() >= since+long, err
	})
	if err == nil && !quiet {
		err = fmt.Errorf("there was always something written, %s", last)
	}
	return err
}

func doAdvance(ctx context.Context, r *run, s *Step) error {
	end := r.Elapsed() + span(s.Args["DURATION"], 0)
	_, err := r.Until(ctx, span(s.Args["DURATION"], 0)+time.Second, func() (bool, error) { return r.Elapsed() >= end, nil })
	return err
}

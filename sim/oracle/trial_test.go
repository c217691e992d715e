package oracle

import (
	"fmt"
	"testing"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/foreign"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

var one = []string{"n1"}

func TestReach(t *testing.T) {
	cutting := func(s *stage) {
		s.try("n1", change(gateway))
		s.hosts["n1"].cut = true
	}
	judge(t, func() Oracle { return newReach() }, one, map[string]history{
		"a change that cuts the node off and is rolled back": {play: func(s *stage) {
			cutting(s)
			s.run(2 * time.Minute)
			s.hosts["n1"].cut = false
			s.end("n1", RolledBack)
		}},
		"a change that cuts the node off and stays": {want: "still is", play: func(s *stage) {
			cutting(s)
			s.end("n1", Committed)
		}},
		"a slow apply that cuts the node off at its end, and is rolled back": {play: func(s *stage) {
			s.trySlowly("n1", change(gateway), 2*time.Minute)
			s.hosts["n1"].cut = true
			s.run(2 * time.Minute)
			s.hosts["n1"].cut = false
			s.end("n1", RolledBack)
		}},
		"a slow apply that cuts the node off at its end, and stays": {want: "still is", play: func(s *stage) {
			s.trySlowly("n1", change(gateway), 2*time.Minute)
			s.hosts["n1"].cut = true
			s.end("n1", Committed)
		}},
		"a NIC that somebody disconnects once the change is over": {play: func(s *stage) {
			s.try("n1", change(gateway))
			s.end("n1", RolledBack)
			s.tell("n1", Fault{Kind: "device-disconnected"})
			s.hosts["n1"].cut = true
		}},
		"a NIC that somebody disconnects while the change cuts the node off": {want: "still is", play: func(s *stage) {
			cutting(s)
			s.tell("n1", Fault{Kind: "device-disconnected"})
			s.end("n1", Committed)
		}},
		"a node that was cut off before": {play: func(s *stage) {
			s.hosts["n1"].cut = true
			s.try("n1", change(gateway))
		}},
		"a cable that is out since": {play: func(s *stage) {
			cutting(s)
			s.tell("n1", Fault{Kind: "carrier-loss", On: true})
		}},
		"a cable that was put back long ago": {want: "still is", play: func(s *stage) {
			cutting(s)
			s.tell("n1", Fault{Kind: "carrier-loss", On: true})
			s.run(time.Minute)
			s.tell("n1", Fault{Kind: "carrier-loss", End: true})
		}},
	})
}

func TestGuards(t *testing.T) {
	judge(t, func() Oracle { return guards{} }, one, map[string]history{
		"every guard passed and the node was read back": {play: func(s *stage) {
			s.try("n1", change(gateway))
			s.prove("n1", gateway)
			s.end("n1", Committed)
		}},
		"another process commits it": {want: "of handler/n1 was committed by once/n1", play: func(s *stage) {
			s.try("n1", change(gateway))
			s.prove("n1", gateway)
			s.tell("n1", CheckpointEnded{ID: "1", Owner: "handler/n1", By: "once/n1", How: Committed})
		}},
		"another process commits what the journal says was proven": {play: func(s *stage) {
			entry := change(gateway)
			s.try("n1", entry)
			s.prove("n1", gateway)
			proven := *entry
			proven.Transaction.Proven = true
			s.tell("n1", JournalSaved{Entry: proven})
			s.tell("n1", CheckpointEnded{ID: "1", Owner: "handler/n1", By: "once/n1", How: Committed})
		}},
		"a guard has not answered": {want: "has not passed", play: func(s *stage) {
			s.try("n1", change(gateway, "dns"))
			s.prove("n1", gateway)
			s.end("n1", Committed)
		}},
		"a guard passed before the apply only": {want: "has not passed", play: func(s *stage) {
			s.tell("n1", Probed{Name: gateway})
			s.try("n1", change(gateway))
			s.prove("n1")
			s.end("n1", Committed)
		}},
		"a guard was lost": {want: "has not passed", play: func(s *stage) {
			s.try("n1", change(gateway))
			s.prove("n1")
			s.tell("n1", Probed{Name: gateway, Err: errNoAnswer, Began: s.Elapsed()})
			s.end("n1", Committed)
		}},
		"nobody read the node back": {want: "read back", play: func(s *stage) {
			s.try("n1", change(gateway))
			s.tell("n1", Probed{Name: gateway, Began: s.Elapsed()})
			s.end("n1", Committed)
		}},
		"a probe that passes does not guard": {want: "does not guard", play: func(s *stage) {
			for range 3 {
				s.tell("n1", Probed{Name: gateway})
			}
			s.try("n1", change())
		}},
		"a probe of the policy's own does not guard": {want: "which does not guard", play: func(s *stage) {
			entry := change(gateway)
			entry.Transaction.Change.Probes = []txn.Guard{{Name: "tcp db:5432"}}
			s.try("n1", entry)
		}},
	})
}

func TestCommitted(t *testing.T) {
	judge(t, func() Oracle { return committed{} }, one, map[string]history{
		"what was committed": {play: func(s *stage) {
			s.try("n1", change())
			s.end("n1", Committed)
			s.close("n1", v1.TransactionCommitted)
		}},
		"what expired": {want: "says Committed", play: func(s *stage) {
			s.try("n1", change())
			s.end("n1", Expired)
			s.close("n1", v1.TransactionCommitted)
		}},
		"what NetworkManager's restart has made permanent": {play: func(s *stage) {
			s.try("n1", change())
			s.end("n1", Lost)
			s.close("n1", v1.TransactionCommitted)
		}},
	})
}

func TestLife(t *testing.T) {
	judge(t, func() Oracle { return life{} }, one, map[string]history{
		"longer than the window": {play: func(s *stage) { s.try("n1", change()) }},
		"shorter than a person has": {want: "lives 2m30s", play: func(s *stage) {
			entry := change()
			entry.Transaction.Change.Confirm = 5 * time.Minute
			s.try("n1", entry)
		}},
	})
}

func TestJournaled(t *testing.T) {
	judge(t, func() Oracle { return journaled{} }, one, map[string]history{
		"on the disk before": {play: func(s *stage) { s.try("n1", change()) }},
		"not on the disk": {want: "no transaction is on the disk", play: func(s *stage) {
			s.tell("n1", Applying{})
			s.tell("n1", CheckpointMade{ID: "1", Owner: "handler/n1"})
		}},
		"without the way back": {want: "way back", play: func(s *stage) {
			entry := change()
			entry.Revert = nil
			s.try("n1", entry)
		}},
	})
}

func TestTakenBack(t *testing.T) {
	judge(t, func() Oracle { return takenBack{} }, one, map[string]history{
		"as before": {play: func(s *stage) {
			s.try("n1", change())
			s.end("n1", RolledBack)
			s.close("n1", v1.TransactionRolledBack)
		}},
		"not as before": {want: "not as before", play: func(s *stage) {
			s.try("n1", change())
			s.end("n1", Lost)
			s.close("n1", v1.TransactionRolledBack)
		}},
		"not as before, and as it was committed": {play: func(s *stage) {
			s.hosts["n1"].record.Committed = &journal.Committed{Desired: []byte(wanted)}
			s.try("n1", change())
			s.end("n1", Lost)
			s.close("n1", v1.TransactionRolledBack)
		}},
		"not as before, nor as it was committed": {want: "not as before", play: func(s *stage) {
			s.hosts["n1"].record.Committed = &journal.Committed{Desired: []byte(before)}
			s.try("n1", change())
			s.end("n1", Lost)
			s.close("n1", v1.TransactionRolledBack)
		}},
		"not as before, and it says so": {play: func(s *stage) {
			s.try("n1", change())
			s.end("n1", Lost)
			s.close("n1", v1.TransactionRollbackIncomplete)
		}},
		"not as before since somebody changed it by hand": {play: func(s *stage) {
			s.try("n1", change())
			s.end("n1", Lost)
			s.tell("n1", Fault{Kind: "drift"})
			s.close("n1", v1.TransactionRolledBack)
		}},
		"not as before since NetworkManager restarted afterwards": {play: func(s *stage) {
			s.try("n1", change())
			s.end("n1", Lost)
			s.close("n1", v1.TransactionRolledBack)
			s.tell("n1", Fault{Kind: "nm-restart"})
		}},
		"not as before, and NetworkManager has restarted in the trial": {want: "not as before", play: func(s *stage) {
			s.try("n1", change())
			s.tell("n1", Fault{Kind: "nm-restart"})
			s.run(2 * time.Second)
			s.end("n1", Lost)
			s.close("n1", v1.TransactionRolledBack)
		}},
		"the checkpoint is alive": {want: "is alive", play: func(s *stage) {
			s.try("n1", change())
			s.close("n1", v1.TransactionRolledBack)
		}},
		"an internal port of Open vSwitch has another lease with its other MAC address": {play: func(s *stage) {
			leasedAgain(s, "02:00:00:00:00:02")
		}},
		"an internal port of Open vSwitch has another lease with the same MAC address": {want: "not as before", play: func(s *stage) {
			leasedAgain(s, "02:00:00:00:00:01")
		}},
		"an internal port of Open vSwitch has lost the MAC address that a policy gave it": {want: "not as before", play: func(s *stage) {
			s.hosts["n1"].record.Committed = &journal.Committed{Desired: []byte(`{"interfaces":[{"name":"ovs0","type":"ovs-interface","mac-address":"02:00:00:00:00:01"}]}`)}
			leasedAgain(s, "02:00:00:00:00:02")
		}},
	})
}

// leasedAgain takes a change back, after which ovs0 has that MAC address and another lease.
func leasedAgain(s *stage, mac string) {
	leased := func(mac, address string) []byte {
		return fmt.Appendf(nil, `{"interfaces":[{"name":"ovs0","type":"ovs-interface","state":"up","mac-address":%q,
			"ipv4":{"enabled":true,"dhcp":true,"address":[{"ip":%q,"prefix-length":24}]}}]}`, mac, address)
	}
	entry := change()
	entry.Before = leased("02:00:00:00:00:01", "192.0.2.220")
	s.try("n1", entry)
	s.end("n1", Lost)
	s.hosts["n1"].network = string(leased(mac, "192.0.2.221"))
	s.close("n1", v1.TransactionRolledBack)
}

func TestAvailableAtTheCommit(t *testing.T) {
	judge(t, func() Oracle { return available{} }, one, map[string]history{
		"it is there": {play: func(s *stage) {
			s.try("n1", change())
			s.end("n1", Committed)
		}},
		"it is not there": {want: "the node lacks", play: func(s *stage) {
			s.try("n1", change())
			s.hosts["n1"].network = before
			s.end("n1", Committed)
		}},
		"it is not there any more since NetworkManager restarted": {play: func(s *stage) {
			s.try("n1", change())
			s.tell("n1", Fault{Kind: "nm-restart"})
			s.hosts["n1"].network = before
			s.end("n1", Committed)
		}},
	})
}

func TestAvailableInTheStatus(t *testing.T) {
	committed := func(s *stage) {
		s.policy(1)
		s.store(s.nns("n1", true, wanted, 2))
		s.try("n1", change())
		s.end("n1", Committed)
		s.close("n1", v1.TransactionCommitted)
	}
	// olders has the older project say it, of a policy with these rules for interfaces.
	olders := func(s *stage, match ...v1.InterfaceRule) {
		committed(s)
		policy := s.policy(1)
		policy.Spec.Match = match
		s.store(policy)
		older := s.enacted("n1", 1, v1.EnactmentAvailable)
		older.OwnerReferences, older.CreationTimestamp = nil, policy.CreationTimestamp
		older.Status.Hash, older.Status.ObservedGeneration, older.Status.Committed = "", 0, nil
		s.store(older)
		s.hosts["n1"].network = before
	}
	judge(t, func() Oracle { return available{} }, one, map[string]history{
		"at rest, the older project says so, and what the policy is made from is not heard": {play: func(s *stage) {
			olders(s, v1.InterfaceRule{Name: "eth1"})
		}},
		"at rest, the older project says so, and the policy is made from nothing": {want: "is Available and the node lacks", play: func(s *stage) { olders(s) }},
		"after the commit": {play: func(s *stage) {
			committed(s)
			s.wrote("handler/n1", s.enacted("n1", 1, v1.EnactmentAvailable), "status")
		}},
		"before the commit": {want: "does not have", play: func(s *stage) {
			s.policy(1)
			s.store(s.nns("n1", true, wanted, 2))
			s.try("n1", change())
			s.wrote("handler/n1", s.enacted("n1", 1, v1.EnactmentAvailable), "status")
			s.end("n1", Committed)
		}},
		"at rest, and the node is another one": {want: "is Available and the node lacks", play: func(s *stage) {
			committed(s)
			s.wrote("handler/n1", s.enacted("n1", 1, v1.EnactmentAvailable), "status")
			s.hosts["n1"].network = before
		}},
		"at rest, and the node is another one and out of reach": {play: func(s *stage) {
			committed(s)
			s.wrote("handler/n1", s.enacted("n1", 1, v1.EnactmentAvailable), "status")
			s.hosts["n1"].network, s.hosts["n1"].cut = before, true
		}},
		"at rest, and the drift is told": {play: func(s *stage) {
			committed(s)
			s.wrote("handler/n1", s.enacted("n1", 1, v1.EnactmentAvailable), "status")
			s.hosts["n1"].network = before
			nns := s.nns("n1", true, wanted, 2)
			nns.Status.Drift = []v1.Drift{{Path: "interfaces[eth1].mtu"}}
			s.store(nns)
		}},
	})
}

func TestActivated(t *testing.T) {
	available := func(s *stage) {
		s.policy(1)
		s.store(s.nns("n1", true, wanted, 2))
		s.hosts["n1"].network = wanted
		s.try("n1", change())
		s.end("n1", Committed)
		s.close("n1", v1.TransactionCommitted)
		s.wrote("handler/n1", s.enacted("n1", 1, v1.EnactmentAvailable), "status")
		s.hosts["n1"].gone = []string{"eth1"}
	}
	judge(t, func() Oracle { return activated{} }, one, map[string]history{
		"it is committed, and is not activated": {want: "eth1 up, and NetworkManager has it disconnected", play: func(s *stage) {
			s.try("n1", change())
			s.hosts["n1"].gone = []string{"eth1"}
			s.end("n1", Committed)
		}},
		"another device is not": {play: func(s *stage) {
			s.try("n1", change())
			s.hosts["n1"].gone = []string{"eth2"}
			s.end("n1", Committed)
		}},
		"somebody lets it go as it is committed": {play: func(s *stage) {
			s.try("n1", change())
			s.tell("n1", Fault{Kind: "device-disconnected"})
			s.hosts["n1"].gone = []string{"eth1"}
			s.end("n1", Committed)
		}},
		"it is taken back": {play: func(s *stage) {
			s.try("n1", change())
			s.hosts["n1"].gone = []string{"eth1"}
			s.end("n1", RolledBack)
		}},
		"somebody lets it go afterwards": {want: "is Available, which wants eth1 up", play: available},
		"somebody lets it go afterwards, and that is told": {play: func(s *stage) {
			available(s)
			nns := s.nns("n1", true, wanted, 2)
			nns.Status.Drift = []v1.Drift{{Path: "interfaces[eth1].state"}}
			s.store(nns)
		}},
		"somebody lets it go on a node that nobody manages": {play: func(s *stage) {
			available(s)
			s.store(s.nns("n1", false, wanted, 2))
		}},
	})
}

func TestKept(t *testing.T) {
	beside := []byte(`{"interfaces":[{"name":"eth1","mtu":1400},{"name":"br1","type":"linux-bridge","state":"up"}]}`)
	with := func(s *stage) {
		entry := change()
		entry.Desired = beside
		s.hosts["n1"].network = `{"interfaces":[{"name":"eth1","state":"up","mtu":1500},{"name":"br1","type":"linux-bridge","state":"up"}]}`
		s.try("n1", entry)
	}
	judge(t, func() Oracle { return kept{} }, one, map[string]history{
		"the rest stays": {play: func(s *stage) {
			with(s)
			s.hosts["n1"].network = string(beside)
			s.end("n1", Committed)
		}},
		"the rest goes": {want: "took away", play: func(s *stage) {
			with(s)
			s.end("n1", Committed)
		}},
	})
}

func TestForeign(t *testing.T) {
	links := []foreign.Link{{Index: 2, Name: "eth1", Up: true, Carrier: true, MTU: 1500}, {Index: 3, Name: "cni0", Kind: "bridge", Up: true, Carrier: true, MTU: 1500}}
	down := []foreign.Link{links[0], {Index: 3, Name: "cni0", Kind: "bridge", Carrier: true, MTU: 1400}}
	judge(t, func() Oracle { return newForeignThings() }, one, map[string]history{
		"nothing is lost": {play: func(s *stage) {
			s.hosts["n1"].kernel.Links = links
			s.try("n1", change())
			s.end("n1", Committed)
			s.close("n1", v1.TransactionCommitted)
		}},
		"another one's link is changed": {want: "what it does not name is lost", play: func(s *stage) {
			s.hosts["n1"].kernel.Links = links
			s.try("n1", change())
			s.hosts["n1"].kernel.Links = down
			s.end("n1", Committed)
			s.close("n1", v1.TransactionCommitted)
		}},
		"its checkpoint has gone back, and it is committed since it looks as it did before": {play: func(s *stage) {
			withoutIPv6(s, v1.TransactionCommitted)
		}},
		"its checkpoint has gone back, and so is it told": {want: "what it does not name is lost", play: func(s *stage) {
			withoutIPv6(s, v1.TransactionRolledBack)
		}},
		"a hand was at work after the note, and the handler undoes it": {play: func(s *stage) {
			s.tell("n1", Fault{Kind: "drift"})
			s.run(noteLag / 10)
			undone(s, links, down, down)
		}},
		"the note was wrong": {want: "what it does not name is lost", play: func(s *stage) {
			undone(s, links, down, down)
		}},
		"a hand was at work after the note, and what it did not touch is lost": {want: "what it does not name is lost", play: func(s *stage) {
			s.tell("n1", Fault{Kind: "drift"})
			s.run(noteLag / 10)
			undone(s, links, links, down)
		}},
		"another one's link is changed by hand": {play: func(s *stage) {
			s.hosts["n1"].kernel.Links = links
			s.try("n1", change())
			s.tell("n1", Fault{Kind: "drift"})
			s.hosts["n1"].kernel.Links = down
			s.end("n1", Committed)
			s.close("n1", v1.TransactionCommitted)
		}},
	})
}

// withoutIPv6 has a link that the change takes down lose its IPv6.
func withoutIPv6(s *stage, result v1.TransactionResult) {
	entry := change()
	entry.Change = []byte(`{"interfaces":[{"name":"eth1","type":"ethernet","state":"down"}]}`)
	link := foreign.Link{Index: 2, Name: "eth1", Up: true, Carrier: true, MTU: 1500}
	s.hosts["n1"].kernel.Links = []foreign.Link{link}
	s.try("n1", entry)
	link.IPv6Off = true
	s.hosts["n1"].kernel.Links = []foreign.Link{link}
	s.end("n1", RolledBack)
	s.close("n1", result)
}

// undone has a handler note something, maybe not what there is, and bring about
// something.
func undone(s *stage, is, noted, then []foreign.Link) {
	entry := change()
	entry.Foreign = &foreign.Snapshot{Links: noted}
	s.hosts["n1"].kernel.Links = is
	s.try("n1", entry)
	s.hosts["n1"].kernel.Links = then
	s.end("n1", Committed)
	s.close("n1", v1.TransactionCommitted)
}

func TestForeignCheckpoints(t *testing.T) {
	theirs := func(s *stage, later time.Duration) {
		s.tell("n1", CheckpointMade{ID: "theirs"})
		s.run(later)
	}
	judge(t, func() Oracle { return newForeignCheckpoints() }, one, map[string]history{
		"a change is tried although one is alive": {want: "theirs of somebody else is alive", play: func(s *stage) {
			theirs(s, 2*foreignKnown)
			s.try("n1", change())
		}},
		"one is made as a change begins": {play: func(s *stage) {
			theirs(s, time.Second)
			s.try("n1", change())
		}},
		"a change is tried when it has ended": {play: func(s *stage) {
			theirs(s, 2*foreignKnown)
			s.tell("n1", CheckpointEnded{ID: "theirs", How: Expired})
			s.try("n1", change())
		}},
		"a change is tried, and NetworkManager could not be asked": {play: func(s *stage) {
			theirs(s, foreignKnown)
			s.tell("n1", Fault{Kind: "backend-fails"})
			s.run(foreignKnown)
			s.try("n1", change())
		}},
		"somebody's checkpoint expires": {play: func(s *stage) { s.tell("n1", CheckpointEnded{ID: "1", How: Expired}) }},
		"a handler rolls it back": {want: "somebody else's", play: func(s *stage) {
			s.tell("n1", CheckpointEnded{ID: "1", How: RolledBack, By: "handler/n1"})
		}},
	})
}

func TestWhatStandsOnANICThatIsDownHasNoAddressesForCertain(t *testing.T) {
	node := func(base string) state.State {
		return parsed([]byte(`{"interfaces":[{"name":"eth1","type":"ethernet","state":"` + base + `"},{"name":"eth1.100","type":"vlan","state":"up","vlan":{"base-iface":"eth1","id":100}}]}`))
	}
	for name, c := range map[string]struct {
		before state.State
		path   string
		want   bool
	}{
		"an address on a base that was down":  {node("down"), "interfaces[eth1.100].ipv4.address[192.0.2.1/24].ip", true},
		"an address on a base that was up":    {node("up"), "interfaces[eth1.100].ipv4.address[192.0.2.1/24].ip", false},
		"an MTU on a base that was down":      {node("down"), "interfaces[eth1.100].mtu", false},
		"the base itself":                     {node("down"), "interfaces[eth1].ipv4.enabled", false},
		"an interface that was not there yet": {node("down"), "interfaces[eth1.200].ipv4.enabled", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := isOfNoCarrier(c.before)(state.Difference{Path: state.ParsePath(c.path)}); got != c.want {
				t.Errorf("%s: %t", c.path, got)
			}
		})
	}
}

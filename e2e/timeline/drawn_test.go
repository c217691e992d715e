//go:build linux

package timeline

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/trace"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// drawn is the record of a run that was never run: what a simulation would
// write, of so many nodes, with so many transactions each.
func drawn(nodes int, length time.Duration, transactions int) *trace.Record {
	names := make([]string, nodes)
	for i := range names {
		names[i] = fmt.Sprintf("n%d", i+1)
	}
	recorder := trace.NewRecorder(names...)
	d := drawing{random: rand.New(rand.NewPCG(1, uint64(nodes))), world: world.New(7)} //nolint:gosec // The same each time.
	d.world.Sink = recorder.Line
	d.cluster(length)
	for _, name := range names {
		d.node(name, length, transactions)
	}
	if err := d.world.RunFor(length); err != nil {
		panic(err)
	}
	record := recorder.Record(length)
	record.Title, record.Seed, record.Hash = "swarm", 1234567890123456789, d.world.Hash()
	record.Replay = "go run ./sim -seed 1234567890123456789"
	record.Facts = [][2]string{{"nodes", fmt.Sprint(nodes)}, {"faults", "carrier 0.02 for 30s, NetworkManager restart 0.01, crash 0.003 at each port call"}}
	return record
}

type drawing struct {
	random *rand.Rand
	world  *world.World
}

func (d drawing) at(at time.Duration, who, what, format string, arguments ...any) {
	text := fmt.Sprintf(format, arguments...)
	d.world.After(at, func() { d.world.Trace(who, what, text) })
}

func (d drawing) within(length time.Duration) time.Duration {
	return time.Duration(d.random.Int64N(int64(length)))
}

func (d drawing) cluster(length time.Duration) {
	d.at(0, "", trace.Phase, "safety")
	d.at(length*3/4, "", trace.Phase, "liveness: faults stop")
	for i := range 4 {
		d.at(length/8*time.Duration(i), "", trace.Policy, "edit policy-%d generation=%d", i%3, i+1)
	}
	d.at(length/3, "", trace.Fault, "begin api-partition: the API server answers nobody")
	d.at(length/3+length/20, "", trace.Fault, "end api-partition")
	for i := range 2 {
		name := fmt.Sprintf("controllers-%d", i+1)
		d.at(0, name, trace.Start, "")
		d.at(length/2+time.Duration(i)*time.Second, name, trace.Killed, "")
		d.at(length/2+20*time.Second, name, trace.Start, "after a crash")
	}
	d.at(time.Second, "controllers-1", trace.Leader, "elected")
	d.at(length*2/3, "n2", trace.Violation, "cut off: n2 has had no way to the API server for 8m20s, by our change of policy-1 generation 3, which its checkpoint should have taken back after 2m30s")
	d.at(length*2/3+5*time.Second, "n1", trace.Violation, "slots: 3 nodes have open transactions of policy-1, maxUnavailable is 2")
}

func (d drawing) node(name string, length time.Duration, transactions int) {
	process := "handler/" + name
	d.at(0, process, trace.Start, "")
	for i := range transactions {
		share := length / time.Duration(transactions)
		d.transaction(process, share*time.Duration(i)+d.within(share/3), share/2, i)
	}
	for range 2 {
		from := d.within(length)
		d.at(from, name, trace.Fault, "begin carrier: eth1 is down")
		d.at(from+d.within(length/10), name, trace.Fault, "end carrier")
		d.at(d.within(length), name, trace.Host, "NetworkManager restarted")
		d.at(d.within(length), process, trace.Fault, "812 api.patch nns/%s status: lost reply", name)
	}
	for _, target := range []string{"gateway", "dns", "api"} {
		from := d.within(length)
		d.at(from, name, trace.Reach, "%s cut: eth1 has no carrier", target)
		d.at(from+d.within(length/10), name, trace.Reach, "%s ok", target)
	}
	if d.random.IntN(3) == 0 {
		died := d.within(length)
		d.at(died, process, trace.Killed, "")
		d.at(died+d.within(length/30), process, trace.Start, "after a crash")
	}
}

// transaction writes the log of one that lasts about so long.
func (d drawing) transaction(process string, at, length time.Duration, n int) {
	from := "Idle"
	enter := func(phase, more string, share float64) {
		d.at(at, process, trace.Log, "transaction phase=%s from=%s generation=%d policy=policy-%d%s", phase, from, n+1, n%3, more)
		from = phase
		at += time.Duration(share * float64(length))
	}
	enter("Arming", "", 0.02)
	enter("Applying", "", 0.2)
	result := "Committed"
	if d.random.IntN(4) == 0 {
		result = []string{"RolledBack", "RollbackIncomplete", "Superseded"}[d.random.IntN(3)]
		enter("Probing", "", 0.5)
		enter("RollingBack", ` cause="probe api-server: no answer within 60s"`, 0.1)
		enter("Settling", "", 0.05)
	} else {
		enter("Probing", "", 0.1+0.4*d.random.Float64())
		enter("Committing", "", 0.02)
	}
	enter("Idle", "", 0)
	d.at(at, process, trace.Log, `transaction ended result=%s generation=%d policy=policy-%d message="probes passed: default-gateway, dns, api-server"`, result, n+1, n%3)
}

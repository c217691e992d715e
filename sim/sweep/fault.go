package sweep

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// Fault is what becomes of one port call.
type Fault string

// The faults.
const (
	// Fail: the call never gets there, and the caller is told so.
	Fail Fault = "fail"
	// Lose: it is carried out, and the caller is told that it failed.
	Lose Fault = "lose"
	// CrashBefore and CrashAfter: the process dies at the boundary.
	CrashBefore Fault = "crash-before"
	CrashAfter  Fault = "crash-after"
	// Stall: it takes long to get there.
	Stall Fault = "stall"
	// PowerCut: the power of the process's node goes just after the call, for a while.
	PowerCut Fault = "power-cut"
)

// Faults are all of them.
func Faults() []Fault { return []Fault{Fail, Lose, CrashBefore, CrashAfter, Stall, PowerCut} }

// strikes tells whether the fault is anything of its own on a call: what is on
// the node changes with calls of its backend and its journal only.
func (f Fault) strikes(call Call) bool {
	return f != PowerCut || call.Port == "backend" || call.Port == "journal"
}

const (
	// stalled is longer than a caller waits for the API server or a probe, and
	// trialStalled longer than any checkpoint of a scenario lives.
	stalled      = 20 * time.Second
	trialStalled = 5 * time.Minute
	// powerless is how long a node is without power.
	powerless = time.Minute
)

// stall is how long a call of a port stalls.
func stall(port string) time.Duration {
	if port == "backend" {
		return trialStalled
	}
	return stalled
}

// on adds the fault to what becomes of a call anyhow.
func (f Fault) on(call world.Call, v world.Verdict) world.Verdict {
	switch f {
	case Fail:
		v.Fail = true
	case Lose:
		v.Lose = true
	case CrashBefore:
		v.CrashBefore = true
	case CrashAfter, PowerCut:
		v.CrashAfter = true
	case Stall:
		v.Before += stall(call.Port)
	}
	v.Why = string(f)
	return v
}

// lasts is how long it is at work.
func (f Fault) lasts(port string) time.Duration {
	if f == Stall {
		return stall(port)
	}
	return 0
}

// kind is the entry of sim/fault's catalog that does the same, by which the
// rules know what it may excuse.
func (f Fault) kind(port string) string {
	switch {
	case f == PowerCut:
		return "power-cut"
	case f == CrashBefore || f == CrashAfter:
		return "crash-at-call"
	case port == "api":
		return map[Fault]string{Fail: "api-fails", Lose: "reply-lost", Stall: "api-timeout"}[f]
	case port == "probe":
		return "probe-lies"
	case port == "journal":
		return "disk-full"
	case f == Stall:
		return "nm-hang"
	case f == Lose:
		return "apply-late-error"
	}
	return "backend-fails"
}

// Strike is a fault on a call of a run, by the call's number.
type Strike struct {
	Call  uint64
	Fault Fault
}

func (s Strike) String() string { return fmt.Sprintf("%d:%s", s.Call, s.Fault) }

// ParseStrikes reads "17,40" and "fail,crash-after".
func ParseStrikes(calls, faults string) ([]Strike, error) {
	numbers, names := strings.Split(calls, ","), strings.Split(faults, ",")
	if len(numbers) != len(names) {
		return nil, fmt.Errorf("%d calls and %d faults: want one for each", len(numbers), len(names))
	}
	var all []Strike
	for i, said := range numbers {
		n, err := strconv.ParseUint(said, 10, 64)
		if err != nil || n == 0 {
			return nil, fmt.Errorf("%q is no number of a call", said)
		}
		f := Fault(names[i])
		if !slices.Contains(Faults(), f) {
			return nil, fmt.Errorf("%q is no fault; there are %v", f, Faults())
		}
		all = append(all, Strike{n, f})
	}
	return all, nil
}

package sweep

import "github.com/nmstate/kubernetes-nmstate/sim/world"

// interposed does something at calls whose process dies while a condition holds.
func interposed(next func(world.Call) world.Verdict, holds func() bool, do func()) func(world.Call) world.Verdict {
	return func(call world.Call) world.Verdict {
		verdict := next(call)
		if verdict.CrashBefore && holds() {
			do()
		}
		return verdict
	}
}

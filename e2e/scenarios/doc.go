// Package scenarios runs the simulator's scenarios (sim/scenario) on the lab, and
// compares what each leaves behind with what it leaves behind in the simulator.
//
//	sim/scenario/files/*.txtar ─┬─► the simulator ─► picture ─┐
//	                            └─► this lab ──────► picture ─┴─► must be the same
//
// With NMSTATE_VM=1 the lab is in a virtual machine with a full kernel.
//
// It owns the lab's side of scenario.Backend. It never knows what a scenario is
// about: what the lab cannot do is refused by name, and said in the scenario
// with "only sim" or "needs".
package scenarios

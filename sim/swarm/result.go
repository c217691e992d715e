package swarm

import (
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/fault"
	"github.com/nmstate/kubernetes-nmstate/sim/oracle"
)

// Result is what became of a run.
type Result struct {
	Seed uint64 `json:"seed"`
	// Violation of a rule; nil when everything held.
	Violation *oracle.Violation `json:"violation,omitempty"`
	Figures   Figures           `json:"figures"`
	// Reached are the faults that were at work, by phase.
	Reached fault.Coverage `json:"reached,omitempty"`
	// Met are the pairs and threes of faults that met on a node.
	Met fault.Met `json:"met,omitempty"`
	// Hash of the trace: the same run gives the same one.
	Hash uint64 `json:"hash"`
}

// Figures count what happened.
type Figures struct {
	// Runs, and those that broke a rule.
	Runs   int `json:"runs"`
	Broken int `json:"broken"`
	// Virtual time, and that of all nodes together.
	Virtual  time.Duration `json:"virtualNanoseconds"`
	NodeTime time.Duration `json:"nodeNanoseconds"`
	// Steps of worlds, port calls, and requests to the API server among them.
	Steps    uint64 `json:"steps"`
	Calls    uint64 `json:"calls"`
	Requests uint64 `json:"requests"`
	// Transactions that began, commits and rollbacks of checkpoints, reverts
	// from journals, and transactions that were refused.
	Transactions uint64 `json:"transactions"`
	Commits      uint64 `json:"commits"`
	Rollbacks    uint64 `json:"rollbacks"`
	Reverts      uint64 `json:"reverts"`
	Faults       uint64 `json:"faults"`
	Crashes      uint64 `json:"crashes"`
}

// Add the figures of another run.
func (f *Figures) Add(o Figures) {
	f.Runs += o.Runs
	f.Broken += o.Broken
	f.Virtual += o.Virtual
	f.NodeTime += o.NodeTime
	f.Steps += o.Steps
	f.Calls += o.Calls
	f.Requests += o.Requests
	f.Transactions += o.Transactions
	f.Commits += o.Commits
	f.Rollbacks += o.Rollbacks
	f.Reverts += o.Reverts
	f.Faults += o.Faults
	f.Crashes += o.Crashes
}

package fault

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// anyPhase stands for what is about no node.
const anyPhase = "any"

// Coverage counts how often a kind was at work in a phase of a transaction, by
// kind and phase. It is JSON too.
type Coverage map[string]map[string]int

func (c Coverage) add(kind, phase string) {
	if c[kind] == nil {
		c[kind] = map[string]int{}
	}
	c[kind][phase]++
}

// Add the counts of another run.
func (c Coverage) Add(other Coverage) {
	for kind, phases := range other {
		for phase, n := range phases {
			if c[kind] == nil {
				c[kind] = map[string]int{}
			}
			c[kind][phase] += n
		}
	}
}

// phases in which the kind has to be reached.
func (k Kind) phases() []string {
	if k.On == OnCluster && k.Instant() {
		return []string{anyPhase}
	}
	var all []string
	if k.On == OnCluster || k.On == OnProcess {
		all = append(all, anyPhase)
	}
	for _, phase := range Phases() {
		if !slices.Contains(k.Never, phase) {
			all = append(all, string(phase))
		}
	}
	return all
}

// Phases of which a host knows: those of which its journal tells.
func Phases() []txn.Phase {
	return []txn.Phase{txn.Idle, txn.Applying, txn.Probing, txn.Committing, txn.RollingBack, txn.Settling}
}

// Zeros lists what was never reached: "nm-hang while Committing"; of what is drawn in
// lean runs only where these were. A rare kind has so few chances that one phase has to do.
func (c Coverage) Zeros(lean bool) []string {
	var zeros []string
	for _, kind := range Catalog() {
		if kind.Lean && !lean {
			continue
		}
		phases := kind.phases()
		if kind.Rare && slices.ContainsFunc(phases, func(phase string) bool { return c[kind.Name][phase] > 0 }) {
			continue
		}
		for _, phase := range phases {
			if c[kind.Name][phase] == 0 {
				zeros = append(zeros, kind.Name+" while "+phase)
			}
		}
	}
	return zeros
}

// Table prints the counts: kinds as rows, phases as columns.
func (c Coverage) Table(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	columns := []string{anyPhase}
	for _, phase := range Phases() {
		columns = append(columns, string(phase))
	}
	_, _ = fmt.Fprint(w, "fault")
	for _, column := range columns {
		_, _ = fmt.Fprint(w, "\t", column)
	}
	_, _ = fmt.Fprintln(w, "\t")
	for _, kind := range Catalog() {
		_, _ = fmt.Fprint(w, kind.Name)
		wanted := kind.phases()
		for _, column := range columns {
			n := c[kind.Name][column]
			switch {
			case n == 0 && !slices.Contains(wanted, column):
				_, _ = fmt.Fprint(w, "\t-")
			default:
				_, _ = fmt.Fprint(w, "\t", n)
			}
		}
		_, _ = fmt.Fprintln(w, "\t")
	}
	return w.Flush()
}

// Kinds that were reached, by name.
func (c Coverage) Kinds() []string { return slices.Sorted(maps.Keys(c)) }

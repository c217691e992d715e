package fault

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Met counts the pairs and threes of faults that met on a node: one began while
// another one lasted there, or within meets of it. Its keys are names of kinds in
// their order, "nm-hang+reboot".
type Met map[string]int

// meets is how long a fault of an instant is felt: a way back, or a first retry.
const meets = 30 * time.Second

// Asked stands, in Met, for a change that waits for a person's word.
const Asked = "asked"

// recent is a fault and when it was over.
type recent struct {
	of    *active
	until time.Duration
}

// meet counts whom a fault meets that begins now.
func (i *Injector) meet(a *active) {
	node := a.fault.Target
	if a.kind.On == OnCluster || node == Controllers {
		return
	}
	now := i.World.Elapsed()
	there := slices.DeleteFunc(i.latest[node], func(r recent) bool { return r.until < now })
	var names []string
	for _, r := range there {
		if r.of.kind.Name != a.kind.Name && !slices.Contains(names, r.of.kind.Name) {
			names = append(names, r.of.kind.Name)
		}
	}
	if i.Asked != nil && i.Asked(node) {
		names = append(names, Asked)
	}
	for n, one := range names {
		i.met.add(a.kind.Name, one)
		for _, other := range names[:n] {
			i.met.add(a.kind.Name, one, other)
		}
	}
	i.latest[node] = append(there, recent{a, now + max(a.fault.For, meets)})
}

// Met tells which kinds met.
func (i *Injector) Met() Met { return i.met }

func (m Met) add(names ...string) {
	slices.Sort(names)
	m[strings.Join(names, "+")]++
}

// Add the counts of another run.
func (m Met) Add(other Met) {
	for names, n := range other {
		m[names] += n
	}
}

// of a pair.
func (m Met) of(a, b string) int {
	names := []string{a, b}
	slices.Sort(names)
	return m[strings.Join(names, "+")]
}

// Apart are the pairs of what people do, or are asked, that never met.
func (m Met) Apart() []string {
	var apart []string
	all := append(ByPeople(), Asked)
	for i, a := range all {
		for _, b := range all[:i] {
			if m.of(a, b) == 0 {
				apart = append(apart, a+" while "+b)
			}
		}
	}
	return apart
}

// Table prints how many pairs and threes met, of how many, and how often those of
// people did.
func (m Met) Table(out io.Writer) error {
	count := map[int]int{}
	for names := range m {
		if !slices.Contains(strings.Split(names, "+"), Asked) {
			count[strings.Count(names, "+")+1]++
		}
	}
	kinds := 0
	for _, k := range Catalog() {
		if k.On != OnCluster {
			kinds++
		}
	}
	_, _ = fmt.Fprintf(out, "\nmet on a node: %d of %d pairs of faults, %d of %d threes\n",
		count[2], kinds*(kinds-1)/2, count[3], kinds*(kinds-1)*(kinds-2)/6)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	all := append(ByPeople(), Asked)
	_, _ = fmt.Fprintf(w, "people\t%s\t\n", strings.Join(all[:len(all)-1], "\t"))
	for i, a := range all {
		_, _ = fmt.Fprint(w, a)
		for _, b := range all[:i] {
			_, _ = fmt.Fprint(w, "\t", m.of(a, b))
		}
		_, _ = fmt.Fprintln(w, strings.Repeat("\t", len(all)-i))
	}
	return w.Flush()
}

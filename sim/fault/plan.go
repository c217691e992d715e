package fault

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Fault is one fault of a run.
type Fault struct {
	// ID names it in the trace, and its random stream.
	ID int `json:"id"`
	// Kind by name.
	Kind string `json:"kind"`
	// Target is a node's name, Controllers, or empty for the cluster.
	Target string `json:"target,omitempty"`
	// At is when it begins; with Call, from when on the call is waited for.
	At time.Duration `json:"atNanoseconds"`
	// Call, such as "backend.commit", is the call of the target at which it
	// begins, or "phase.Probing" the first one in that phase of a transaction; Nth
	// which one of them (from 1), and Delay how long after it began.
	Call  string        `json:"call,omitempty"`
	Nth   int           `json:"nth,omitempty"`
	Delay time.Duration `json:"delayNanoseconds,omitempty"`
	// For is how long it lasts.
	For time.Duration `json:"forNanoseconds,omitempty"`
	// Rate is the share of the calls that it hits.
	Rate float64 `json:"rate,omitempty"`
	// Arg is what the kind makes of it: a NIC, a lag.
	Arg string `json:"arg,omitempty"`
}

func (f Fault) duration() time.Duration {
	d, err := time.ParseDuration(f.Arg)
	if err != nil {
		return 0 // Draw makes no others; a run file may.
	}
	return d
}

func (f Fault) number() int {
	n, err := strconv.Atoi(f.Arg)
	if err != nil {
		return 0 // The same.
	}
	return n
}

// name tells it from the others of its kind: "nm-hang#3".
func (f Fault) name() string { return fmt.Sprintf("%s#%d", f.Kind, f.ID) }

// String is one line.
func (f Fault) String() string {
	if f.Target == "" {
		return f.name() + " " + f.when()
	}
	return f.name() + " on " + f.Target + " " + f.when()
}

// when says when, for how long and how much.
func (f Fault) when() string {
	var b strings.Builder
	if f.Call == "" {
		fmt.Fprintf(&b, "at %s", f.At)
	} else {
		fmt.Fprintf(&b, "%s after call %d of %s from %s on", f.Delay, f.Nth, f.Call, f.At)
	}
	if f.For > 0 {
		fmt.Fprintf(&b, ", for %s", f.For)
	}
	if f.Rate > 0 {
		fmt.Fprintf(&b, ", %.0f %% of the calls", math.Ceil(100*f.Rate))
	}
	if f.Arg != "" {
		b.WriteString(", " + f.Arg)
	}
	return b.String()
}

// Plan is the faults of a run.
type Plan []Fault

func (p Plan) String() string {
	if len(p) == 0 {
		return "no faults"
	}
	var lines []string
	for _, f := range p {
		lines = append(lines, f.String())
	}
	return strings.Join(lines, "\n")
}

// Check finds the first fault that the catalog does not have.
func (p Plan) Check() error {
	for _, f := range p {
		kind, found := Find(f.Kind)
		switch {
		case !found:
			return fmt.Errorf("fault #%d: there is no kind %q", f.ID, f.Kind)
		case kind.On != OnCluster && f.Target == "":
			return fmt.Errorf("fault #%d: %s is about a %s, but has no target", f.ID, f.Kind, kind.On)
		case len(kind.Args) > 0 && !slices.Contains(kind.Args, f.Arg):
			return fmt.Errorf("fault #%d: %s of %q: want one of %s", f.ID, f.Kind, f.Arg, strings.Join(kind.Args, ", "))
		}
	}
	return nil
}

// Shape is what a plan is drawn for.
type Shape struct {
	// Nodes by name.
	Nodes []string
	// From and Until are when faults may begin; none is there after Until.
	From, Until time.Duration
	// Armed is the probability that a kind is armed.
	Armed float64
	// Always are kinds that are armed in any case.
	Always []string
	// Lean: every kind is drawn, and faults come together (together).
	Lean bool
}

// mostOfAKind bounds the faults of one kind in a run.
const mostOfAKind = 4

// Draw draws a plan. stream gives each kind its own random stream.
func Draw(shape Shape, stream func(name string) *rand.Rand) Plan {
	var plan Plan
	for _, kind := range Catalog() {
		r := stream("fault/" + kind.Name)
		armed, most := shape.Armed, mostOfAKind
		if kind.Rare {
			armed, most = armed/4, 1
		}
		if (kind.Lean && !shape.Lean || r.Float64() >= armed) && !slices.Contains(shape.Always, kind.Name) {
			continue
		}
		for range 1 + r.IntN(most) {
			plan = append(plan, kind.draw(r, shape))
		}
	}
	workAside(plan, stream("fault/work-aside"))
	if shape.Lean {
		plan = together(plan, shape, stream("fault/together"))
	}
	for i := range plan {
		plan[i].ID = i + 1
	}
	return plan
}

// workAside has half of the hands at work while a node is set aside: that is what
// people set it aside for.
func workAside(plan Plan, r *rand.Rand) {
	for _, aside := range plan {
		if aside.Kind != "node-set-aside" || aside.Call != "" {
			continue
		}
		for i := range plan {
			if hand := &plan[i]; hand.Kind == "drift" && r.IntN(2) == 0 {
				hand.Target, hand.Call, hand.Nth, hand.Delay = aside.Target, "", 0, 0
				hand.At = drawn(r, aside.At, aside.At+aside.For)
			}
		}
	}
}

const (
	// gatherings of a run are at most so many, of three faults each.
	gatherings = 3
	// soon is when the last of them begins.
	soon = 20 * time.Second
)

// together has two more faults begin on a node where one begins, at the same call and
// soon after: what is undone for the one is half done when the next one comes. One
// of them is mostly a person.
func together(plan Plan, shape Shape, r *rand.Rand) Plan {
	var first []Fault
	for _, f := range plan {
		if f.Call != "" && slices.Contains(shape.Nodes, f.Target) {
			first = append(first, f)
		}
	}
	kinds := slices.DeleteFunc(Catalog(), func(k Kind) bool { return k.On == OnCluster || k.Rare || k.Name == "node-removed" })
	people := slices.DeleteFunc(slices.Clone(kinds), func(k Kind) bool { return !slices.Contains(ByPeople(), k.Name) })
	for range min(gatherings, len(first)) {
		with := first[r.IntN(len(first))]
		for _, from := range [][]Kind{people, kinds} {
			f := from[r.IntN(len(from))].draw(r, shape)
			f.Target, f.At, f.Call, f.Nth = with.Target, with.At, with.Call, with.Nth
			f.Delay = with.Delay + magnitude(r, time.Millisecond, soon)
			plan = append(plan, f)
		}
	}
	return plan
}

// Sites are the calls at which faults begin, those of a transaction. They stand
// several times where more goes wrong.
func sites() []string {
	return []string{
		"backend.apply", "backend.apply", "backend.apply", "journal.save", "journal.save", "probe.probe", "probe.probe",
		"backend.commit", "backend.commit", "backend.commit", "backend.rollback", "backend.rollback", "backend.show",
		"journal.close", "backend.pending", "api.patch",
		"phase.Applying", "phase.Probing", "phase.Committing", "phase.RollingBack", "phase.RollingBack", "phase.Settling", "phase.Settling",
	}
}

func (k Kind) draw(r *rand.Rand, shape Shape) Fault {
	f := Fault{Kind: k.Name, At: drawn(r, shape.From, shape.Until)}
	controllers := k.On == OnProcess && r.IntN(4) == 0
	switch {
	case controllers:
		f.Target = Controllers
	case k.On != OnCluster:
		f.Target = shape.Nodes[r.IntN(len(shape.Nodes))]
	}
	if !k.Instant() {
		// Short ones are as likely as long ones: each magnitude is.
		f.For = magnitude(r, k.Least, k.Most)
		f.For = max(min(f.For, shape.Until-f.At), time.Millisecond)
	}
	if k.Rate > 0 {
		f.Rate = k.Rate * (0.05 + 0.95*r.Float64())
	}
	if len(k.Args) > 0 {
		f.Arg = k.Args[r.IntN(len(k.Args))]
	}
	if !controllers && r.IntN(4) > 0 {
		all := sites()
		f.Call, f.Nth = all[r.IntN(len(all))], 1+r.IntN(3)
		f.At = drawn(r, shape.From, (shape.From+shape.Until)/2)
		if r.IntN(2) == 0 {
			f.Delay = magnitude(r, time.Millisecond, time.Minute)
		}
	}
	return f
}

// drawn is one of the times between two, in whole milliseconds.
func drawn(r *rand.Rand, least, most time.Duration) time.Duration {
	if most <= least {
		return least
	}
	return (least + time.Duration(r.Int64N(int64(most-least)+1))).Truncate(time.Millisecond)
}

// magnitude is one of the times between two, with each order of magnitude as
// likely as the others.
func magnitude(r *rand.Rand, least, most time.Duration) time.Duration {
	low, high := math.Log(float64(least)), math.Log(float64(most))
	return time.Duration(math.Exp(low + (high-low)*r.Float64())).Truncate(time.Millisecond)
}

package kind

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// told are the figures of this run.
var told figures

// figures are what was measured, in the order in which it was.
type figures struct {
	mu    sync.Mutex
	lines [][2]string
}

func (f *figures) say(what, value string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lines = append(f.lines, [2]string{what, value})
	AddReportEntry(what, value, ReportEntryVisibilityFailureOrVerbose)
}

func (f *figures) table() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	width := 0
	for _, line := range f.lines {
		width = max(width, len(line[0]))
	}
	var b strings.Builder
	for _, line := range f.lines {
		fmt.Fprintf(&b, "  %-*s  %s\n", width, line[0], line[1])
	}
	return b.String()
}

// cost is what a program on a node has used.
type cost struct {
	at time.Time
	// cpu of the process and of its children that ended.
	cpu time.Duration
	// memory is the proportional share of it that is in use, in KiB.
	memory int
}

// costOf reads what the oldest process of that name has used; zero where there
// is none.
func (n *node) costOf(ctx context.Context, program string) cost {
	GinkgoHelper()
	out := n.script(ctx, `pid=$(pgrep -o -x `+program+`) || exit 0
sed 's/.*) //' /proc/$pid/stat | cut -d' ' -f12-15
sed -n 's/^Pss: *\([0-9]*\) kB/\1/p' /proc/$pid/smaps_rollup`)
	words := strings.Fields(out)
	if len(words) != 5 {
		return cost{}
	}
	var numbers []int
	for _, word := range words {
		number, err := strconv.Atoi(word)
		Expect(err).NotTo(HaveOccurred())
		numbers = append(numbers, number)
	}
	const tick = 10 * time.Millisecond // USER_HZ is 100 everywhere.
	used := time.Duration(numbers[0]+numbers[1]+numbers[2]+numbers[3]) * tick
	return cost{at: time.Now(), cpu: used, memory: numbers[4]}
}

// programs are the two of the product.
func programs() []string { return []string{"handler", "controllers"} }

// costs are those of each program on each node that runs it.
func (c *cluster) costs(ctx context.Context) map[string]cost {
	GinkgoHelper()
	found := map[string]cost{}
	for _, n := range c.all() {
		for _, program := range programs() {
			if used := n.costOf(ctx, program); !used.at.IsZero() {
				found[program+" on "+n.name] = used
			}
		}
	}
	return found
}

// sayCosts tells what each program took between two looks, at most.
func sayCosts(when string, before, after map[string]cost) {
	for _, program := range programs() {
		memory, share := 0, 0.0
		for who, then := range after {
			was, ok := before[who]
			if !ok || !strings.HasPrefix(who, program+" ") {
				continue
			}
			memory = max(memory, then.memory)
			share = max(share, (then.cpu-was.cpu).Seconds()/then.at.Sub(was.at).Seconds())
		}
		told.say(program+" "+when+" (the one that took most)", fmt.Sprintf("%.0f MiB, %.2f %% of a core", float64(memory)/1024, 100*share))
	}
}

package kind

import (
	"bufio"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// pingInterval is the time between two pings, and so the resolution of what is
// measured.
const pingInterval = 200 * time.Millisecond

// outside pings a node from another one all the time: how long an outage is in
// the eyes of who needs the node.
type outside struct {
	from, to *node
	cmd      *exec.Cmd
	pid      int
	ended    sync.WaitGroup

	mu      sync.Mutex
	answers []time.Time
}

// watchFrom starts to ping the address that a node has now.
func (n *node) watchFrom(ctx context.Context, from *node) *outside {
	GinkgoHelper()
	o := &outside{from: from, to: n}
	// The shell tells the number of the process that it then is, so that it can
	// be ended: who ends docker exec ends nothing in the container.
	script := fmt.Sprintf("echo $$; exec timeout 600 ping -n -D -i %.1f %s", pingInterval.Seconds(), n.address(ctx))
	o.cmd = exec.CommandContext(context.WithoutCancel(ctx), "docker", "exec", from.name, "sh", "-c", script)
	stdout, err := o.cmd.StdoutPipe()
	Expect(err).NotTo(HaveOccurred())
	Expect(o.cmd.Start()).To(Succeed())
	lines := bufio.NewScanner(stdout)
	Expect(lines.Scan()).To(BeTrue(), "ping on %s", from.name)
	o.pid, err = strconv.Atoi(lines.Text())
	Expect(err).NotTo(HaveOccurred())
	o.ended.Go(func() {
		answer := regexp.MustCompile(`^\[([0-9.]+)\] .*bytes from`)
		for lines.Scan() {
			found := answer.FindStringSubmatch(lines.Text())
			if found == nil {
				continue
			}
			at, err := strconv.ParseFloat(found[1], 64)
			if err != nil {
				continue
			}
			o.mu.Lock()
			o.answers = append(o.answers, time.UnixMicro(int64(at*1e6)))
			o.mu.Unlock()
		}
	})
	DeferCleanup(func() {
		ctx, cancel := background()
		defer cancel()
		o.end(ctx)
	})
	Eventually(ctx, o.count).Should(BeNumerically(">=", 2), "%s answers %s before anything is done", n.name, from.name)
	return o
}

func (o *outside) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.answers)
}

func (o *outside) end(ctx context.Context) {
	if o.cmd == nil {
		return
	}
	_, _ = o.from.try(ctx, "kill", strconv.Itoa(o.pid))
	o.ended.Wait()
	_ = o.cmd.Wait()
	o.cmd = nil
}

// outage is what was seen from outside.
type outage []time.Duration

func (o outage) String() string {
	switch len(o) {
	case 0:
		return fmt.Sprintf("none longer than %s", outageFrom)
	case 1:
		return seconds(o[0])
	}
	var all []string
	for _, gap := range o {
		all = append(all, seconds(gap))
	}
	return strings.Join(all, ", then ")
}

// outageFrom is how long no answer may be, on a machine with much to do, without
// being an outage.
const outageFrom = 5 * pingInterval

// stop waits for one more answer, ends the pings, and tells the times without
// an answer.
func (o *outside) stop(ctx context.Context) outage {
	GinkgoHelper()
	before := o.count()
	Eventually(ctx, o.count).Should(BeNumerically(">", before), "%s answers %s again", o.to.name, o.from.name)
	o.end(ctx)
	var gaps outage
	for i := 1; i < len(o.answers); i++ {
		if gap := o.answers[i].Sub(o.answers[i-1]); gap > outageFrom {
			gaps = append(gaps, gap)
		}
	}
	return gaps
}

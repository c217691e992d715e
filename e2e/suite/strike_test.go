//go:build linux

package suite

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

// follower reads the transaction's phases from the handler's log, where a
// phase is told once it is journaled and before anything is done about it.
type follower struct {
	path   string
	offset int64
	rest   []byte
	// seen are all phases since follow, passed the guards.
	seen, passed []string
}

// follow starts at the present end of the log.
func follow(n *lab.Node) *follower {
	GinkgoHelper()
	info, err := os.Stat(n.LogPath("handler"))
	Expect(err).NotTo(HaveOccurred())
	return &follower{path: n.LogPath("handler"), offset: info.Size()}
}

// entered are the phases that were entered since the last call.
func (f *follower) entered() ([]string, error) {
	file, err := os.Open(f.path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil || info.Size() <= f.offset {
		return nil, err
	}
	more := make([]byte, info.Size()-f.offset)
	read, err := file.ReadAt(more, f.offset)
	f.offset += int64(read)
	f.rest = append(f.rest, more[:read]...)
	var phases []string
	for {
		line, after, whole := bytes.Cut(f.rest, []byte("\n"))
		if !whole {
			return phases, err
		}
		f.rest = after
		var said struct{ Msg, Phase, Guard string }
		if json.Unmarshal(line, &said) != nil {
			continue
		}
		switch said.Msg {
		case "transaction":
			phases = append(phases, said.Phase)
		case "guard passed":
			f.passed = append(f.passed, said.Guard)
		}
	}
}

// until returns as soon as the phase is entered. It does not yield: some
// phases last for milliseconds.
func (f *follower) until(ctx context.Context, phase string) {
	GinkgoHelper()
	deadline := time.Now().Add(patience)
	for ctx.Err() == nil && time.Now().Before(deadline) {
		phases, err := f.entered()
		Expect(err).NotTo(HaveOccurred())
		f.seen = append(f.seen, phases...)
		if slices.Contains(phases, phase) {
			return
		}
		time.Sleep(200 * time.Microsecond)
	}
	Fail(fmt.Sprintf("phase %s was not entered within %s; entered: %v", phase, patience, f.seen))
}

// killHandler kills the node's handler with -9; the lab starts it again after
// a second, as a DaemonSet would.
func killHandler(ctx context.Context, n *lab.Node) {
	GinkgoHelper()
	Expect(n.Handler(ctx, "kill")).To(Succeed())
}

// freezeNM stops NetworkManager as SIGSTOP does: what is asked of it waits.
func freezeNM(ctx context.Context, n *lab.Node) (thaw func()) {
	GinkgoHelper()
	pid := fmt.Sprint(unit(ctx, n, "nm").PID)
	_, err := n.Exec(ctx, "kill", "-STOP", pid)
	Expect(err).NotTo(HaveOccurred())
	return func() {
		GinkgoHelper()
		_, err := n.Exec(ctx, "kill", "-CONT", pid)
		Expect(err).NotTo(HaveOccurred())
	}
}

func unit(ctx context.Context, n *lab.Node, name string) lab.UnitStatus {
	GinkgoHelper()
	units, err := n.Units(ctx)
	Expect(err).NotTo(HaveOccurred())
	for _, u := range units {
		if u.Name == name {
			return u
		}
	}
	Fail("no unit " + name)
	return lab.UnitStatus{}
}

// awaitHandler waits until the handler runs that was started that many times
// after a crash.
func awaitHandler(ctx context.Context, n *lab.Node, restarts int) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) {
		u := unit(ctx, n, "handler")
		g.Expect(u.State).To(Equal("running"))
		g.Expect(u.Restarts).To(BeNumerically(">=", restarts))
	}).Should(Succeed())
}

//go:build linux

package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"k8s.io/utils/clock"
)

// Phases are those of a node's transactions, read from its handler's log, where
// a phase is told once it is journaled and before anything is done about it.
type Phases struct {
	path          string
	begun, offset int64
	rest          []byte
	// waited is how many of entered Until has passed.
	waited  int
	entered []Entered
	passed  []string
	// pause is between two looks at the log; short where it is zero.
	pause time.Duration
}

// Entered is when a transaction came to a phase.
type Entered struct {
	Phase string
	At    time.Time
}

// FollowPhases begins at the present end of the log.
func (n *Node) FollowPhases() (*Phases, error) {
	info, err := os.Stat(n.LogPath("handler"))
	if err != nil {
		return nil, fmt.Errorf("looking for the handler's log: %w", err)
	}
	return &Phases{path: n.LogPath("handler"), begun: info.Size(), offset: info.Size()}, nil
}

// inPhase is a phase that a node waits for itself, in its handler's log from a place on.
type inPhase struct {
	Phase    string        `json:"phase"`
	From     int64         `json:"from"`
	Waited   int           `json:"waited"`
	Patience time.Duration `json:"patience"`
}

// HandlerIn stops, kills or halts the handler as soon as a phase is entered, after the one
// that was waited for last. The node watches for it: until the machine has heard of a phase
// from a node in a virtual machine, and has answered, the phase may be over.
func (n *Node) HandlerIn(ctx context.Context, verb, phase string, p *Phases, patience time.Duration) error {
	in := &inPhase{Phase: phase, From: p.begun, Waited: p.waited, Patience: patience}
	res, err := n.lab.ask(ctx, n.dir(), request{Verb: verb, Target: "handler", In: in})
	if err != nil {
		return fmt.Errorf("%s: %s of the handler in %s: %w", n.Name, verb, phase, err)
	}
	p.waited = res.Waited
	return nil
}

// await waits for a phase where the log is written. An emulated processor has other things
// to do than to look at it all the time.
func (i *inPhase) await(ctx context.Context, log string) (waited int, err error) {
	p := &Phases{path: log, begun: i.From, offset: i.From, waited: i.Waited, pause: 5 * time.Millisecond}
	err = p.Until(ctx, i.Phase, i.Patience)
	return p.waited, err
}

// Until returns as soon as the phase is entered, after the one that it has
// returned for last. It does not yield for long: some phases last for
// milliseconds.
func (p *Phases) Until(ctx context.Context, phase string, patience time.Duration) error {
	wall := clock.RealClock{}
	for end := wall.Now().Add(patience); ; {
		entered, err := p.Entered()
		if err != nil {
			return err
		}
		for i, one := range entered[p.waited:] {
			if one.Phase == phase {
				p.waited += i + 1
				return nil
			}
		}
		if ctx.Err() != nil || wall.Now().After(end) {
			return fmt.Errorf("phase %s was not entered within %s; entered: %v", phase, patience, phaseNames(entered))
		}
		wall.Sleep(max(p.pause, 200*time.Microsecond))
	}
}

// Entered are all phases up to now, oldest first.
func (p *Phases) Entered() ([]Entered, error) {
	err := p.read()
	return p.entered, err
}

// Passed are the guards that have passed up to now.
func (p *Phases) Passed() ([]string, error) {
	err := p.read()
	return p.passed, err
}

// Last is the phase that was entered last; "none" for none.
func (p *Phases) Last() string {
	entered, err := p.Entered()
	if err != nil || len(entered) == 0 {
		return "none"
	}
	return entered[len(entered)-1].Phase
}

// Between is the time from a phase to the one after it; zero if there was none.
func (p *Phases) Between(phase string) time.Duration {
	entered, err := p.Entered()
	if err != nil {
		return 0
	}
	for i := 1; i < len(entered); i++ {
		if entered[i-1].Phase == phase {
			return entered[i].At.Sub(entered[i-1].At)
		}
	}
	return 0
}

func phaseNames(entered []Entered) []string {
	var found []string
	for _, one := range entered {
		found = append(found, one.Phase)
	}
	return found
}

func (p *Phases) read() error {
	file, err := os.Open(p.path)
	if err != nil {
		return fmt.Errorf("reading the handler's log: %w", err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil || info.Size() <= p.offset {
		return err
	}
	more := make([]byte, info.Size()-p.offset)
	read, err := file.ReadAt(more, p.offset)
	if err != nil {
		return fmt.Errorf("reading the handler's log: %w", err)
	}
	p.offset += int64(read)
	p.rest = append(p.rest, more[:read]...)
	for {
		line, after, whole := bytes.Cut(p.rest, []byte("\n"))
		if !whole {
			return nil
		}
		p.rest = after
		var said struct {
			Msg, Phase, Guard string
			TS                time.Time
		}
		if json.Unmarshal(line, &said) != nil {
			continue
		}
		switch said.Msg {
		case "transaction":
			p.entered = append(p.entered, Entered{said.Phase, said.TS})
		case "guard passed":
			p.passed = append(p.passed, said.Guard)
		}
	}
}

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
	path   string
	offset int64
	rest   []byte
	// waited is how many of entered Until has passed.
	waited  int
	entered []Entered
	passed  []string
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
	return &Phases{path: n.LogPath("handler"), offset: info.Size()}, nil
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
		wall.Sleep(200 * time.Microsecond)
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

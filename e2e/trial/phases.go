//go:build linux

package trial

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

// phases reads the transaction's phases from the handler's log, where one is
// told once it is journaled and before anything is done about it.
type phases struct {
	path   string
	offset int64
	rest   []byte
	seen   []entered
}

type entered struct {
	Phase string
	At    time.Time
}

// follow starts at the present end of the log.
func follow(n *lab.Node) (*phases, error) {
	info, err := os.Stat(n.LogPath("handler"))
	if err != nil {
		return nil, fmt.Errorf("looking for the handler's log: %w", err)
	}
	return &phases{path: n.LogPath("handler"), offset: info.Size()}, nil
}

// until returns as soon as the phase is entered. It does not yield for long:
// some phases last for milliseconds.
func (p *phases) until(ctx context.Context, phase string) error {
	for end := time.Now().Add(patience); ; {
		if err := p.read(); err != nil {
			return err
		}
		if slices.ContainsFunc(p.seen, func(e entered) bool { return e.Phase == phase }) {
			return nil
		}
		if ctx.Err() != nil || time.Now().After(end) {
			return fmt.Errorf("phase %s was not entered within %s; entered: %v", phase, patience, p.seen)
		}
		time.Sleep(200 * time.Microsecond)
	}
}

// last phase that was entered.
func (p *phases) last() string {
	if p.read() != nil || len(p.seen) == 0 {
		return "none"
	}
	return p.seen[len(p.seen)-1].Phase
}

func (p *phases) read() error {
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
			Msg, Phase string
			TS         json.RawMessage
		}
		if json.Unmarshal(line, &said) == nil && said.Msg == "transaction" {
			p.seen = append(p.seen, entered{said.Phase, time.Now()})
		}
	}
}

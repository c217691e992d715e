//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// stage is where the demo tells its story: lines with the time since it began,
// and what commands print, indented.
type stage struct {
	out    io.Writer
	began  time.Time
	colour bool
	mu     sync.Mutex
	// doing is the present scene, for the message of a failure.
	doing string
}

const indent = "          "

func newStage(out *os.File, began time.Time) *stage {
	return &stage{
		out: out, began: began, doing: "starting",
		colour: term.IsTerminal(int(out.Fd())) && os.Getenv("NO_COLOR") == "",
	}
}

// ANSI attributes.
const (
	bold  = "1"
	green = "32"
)

func (s *stage) print(prefix, attribute, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.colour && attribute != "" {
		text = "\x1b[" + attribute + "m" + text + "\x1b[0m"
	}
	_, _ = fmt.Fprintln(s.out, prefix+text)
}

func (s *stage) elapsed() string { return fmt.Sprintf("%7.1fs  ", time.Since(s.began).Seconds()) }

// scene begins a part of the story.
func (s *stage) scene(text string) {
	s.doing = text
	s.print("\n"+s.elapsed(), bold, "== "+text)
}

func (s *stage) say(format string, args ...any) {
	s.print(s.elapsed(), "", strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// good is a line about something that was checked.
func (s *stage) good(format string, args ...any) {
	s.print(s.elapsed(), green, fmt.Sprintf(format, args...))
}

// quote prints text that is not ours.
func (s *stage) quote(text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		s.print(indent, "", line)
	}
}

// run shows a command as the viewer would type it, runs it and shows what it
// prints. The error has the command's own words.
func (s *stage) run(ctx context.Context, shown string, env []string, program string, args ...string) error {
	s.print(indent, bold, "$ "+shown)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", shown, err, strings.Join(strings.Fields(out.String()), " "))
	}
	s.quote(out.String())
	return nil
}

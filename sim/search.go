package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/trace"
)

// search runs many worlds on all cores, each world on one core, and shows a
// person the progress.
type search struct {
	options *options
	began   time.Time

	// mu guards what follows, and the results of the runs.
	mu   sync.Mutex
	next int
	// what is counted in the progress: seeds, or runs; empty shows none.
	what        string
	count       int
	done, broke int
	// ended: enough are broken. late: the time was over. No further run begins then.
	ended, late bool
}

// each does something with the numbers from 0 to count-1, and returns when all is done.
func (s *search) each(ctx context.Context, what string, count int, do func(i int)) {
	s.next, s.what, s.count = 0, what, count
	var workers sync.WaitGroup
	for range s.options.workers {
		workers.Go(func() {
			for i, more := s.take(ctx); more; i, more = s.take(ctx) {
				do(i)
			}
		})
	}
	if what == "" || !s.watched() {
		workers.Wait()
		return
	}
	ended := make(chan struct{})
	go func() {
		workers.Wait()
		close(ended)
	}()
	s.show(ended)
}

func (s *search) take(ctx context.Context) (i int, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil || s.ended || s.next >= s.count {
		return 0, false
	}
	if s.what != "" && s.options.atMost > 0 && time.Since(s.began) >= s.options.atMost {
		s.late = true
		return 0, false
	}
	s.next++
	return s.next - 1, true
}

// watched tells whether a person looks at the progress.
func (s *search) watched() bool { return !s.options.json && trace.Terminal(os.Stderr) }

// show writes the progress once a second.
func (s *search) show(ended <-chan struct{}) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for over := false; !over; {
		select {
		case <-ended:
			over = true
		case <-ticker.C:
		}
		s.mu.Lock()
		fmt.Fprintf(os.Stderr, "\r%d of %d %s, %.0f a minute, %d broke a rule ", s.done, s.count, s.what, float64(s.done)/time.Since(s.began).Minutes(), s.broke)
		s.mu.Unlock()
	}
	fmt.Fprintln(os.Stderr)
}

// write a result: as JSON with -json, otherwise as inWords does.
func (o *options) write(out io.Writer, result any, inWords func() error) error {
	var err error
	if o.json {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(result)
	} else {
		err = inWords()
	}
	if err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	return nil
}

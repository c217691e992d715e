package host

import "time"

// background is a context for ports whose methods have none: it never ends.
type background struct{}

func (background) Deadline() (time.Time, bool) { return time.Time{}, false }
func (background) Done() <-chan struct{}       { return nil }
func (background) Err() error                  { return nil }
func (background) Value(any) any               { return nil }

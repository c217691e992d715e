//go:build !linux

package journal

import (
	"errors"
	"time"
)

// LiveBoot would ask the kernel; only Linux is configured.
type LiveBoot struct{}

var errNotLinux = errors.New("boots are told apart on Linux only")

// ID implements Boot.
func (LiveBoot) ID() (string, error) { return "", errNotLinux }

// Elapsed implements Boot.
func (LiveBoot) Elapsed() (time.Duration, error) { return 0, errNotLinux }

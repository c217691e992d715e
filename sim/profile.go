package main

import (
	"fmt"
	"os"
	"runtime/pprof"
)

// profiled runs something with a profile of the processor's time in a file.
func profiled(name string, task func() error) error {
	if name == "" {
		return task()
	}
	file, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("writing the profile: %w", err)
	}
	defer func() { _ = file.Close() }()
	if err := pprof.StartCPUProfile(file); err != nil {
		return fmt.Errorf("writing the profile: %w", err)
	}
	defer pprof.StopCPUProfile()
	return task()
}

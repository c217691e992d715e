package journal

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// LiveBoot asks the kernel.
type LiveBoot struct{}

// ID implements Boot.
func (LiveBoot) ID() (string, error) {
	raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("reading the boot id: %w", err)
	}
	return strings.TrimSpace(string(raw)), nil
}

// Elapsed implements Boot. NetworkManager stamps checkpoints with the same clock.
func (LiveBoot) Elapsed() (time.Duration, error) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return 0, fmt.Errorf("reading the time since boot: %w", err)
	}
	return time.Duration(now.Nano()), nil
}

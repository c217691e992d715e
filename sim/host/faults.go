package host

import "time"

// Faults are what goes wrong inside of nmstate and NetworkManager; each is
// asked when its moment comes, nil is nothing. What comes from outside (a
// restart, drift, a carrier) has methods of Host.
type Faults struct {
	// Show: reading fails.
	Show func() error
	// Refuse: an apply fails before it has changed anything. The error should
	// wrap one of handler/backend's.
	Refuse func() error
	// Step is asked before each activation, after so many have been done: how
	// much longer it takes, and whether the apply ends there.
	Step func(done int) (time.Duration, error)
	// Die is asked when NetworkManager has made a device in the kernel: whether it
	// dies (kill -9) before it gives it its profile, and after what time it is back.
	Die func() (dies bool, back time.Duration)
	// Verify is asked when all is activated: how much longer that takes, whether
	// it says that all is well without a look, and an error although all is there.
	Verify func() (wait time.Duration, lie bool, err error)
	// KeepFailed: after a failure nmstate does not roll back by itself.
	KeepFailed func() bool
	// Skip: an apply leaves an activation out without a word. What NetworkManager
	// activates by itself, at boot say, comes up: nobody could bring it back.
	Skip func(profile string) bool
	// Stay: an activation of an apply fails behind the kernel's back, as that of 802.1X
	// without a supplicant: the link is as was said, and its device is disconnected.
	Stay func(profile string) bool
	// PutBack: the kernel refuses to take something back.
	PutBack func() error
	// Disk: writing to the disk fails, the journal or a file.
	Disk func() error
}

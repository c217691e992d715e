package journal

import (
	"os/exec"
	"syscall"
)

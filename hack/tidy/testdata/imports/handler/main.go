package main

import (
	"C"
	"os/exec"
	"syscall"

	"github.com/nmstate/kubernetes-nmstate/handler/backend/nmstate"
)

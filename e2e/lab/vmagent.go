//go:build linux

package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"

	"github.com/hashicorp/yamux"
	"golang.org/x/sys/unix"
)

const (
	// vmPorts matches the VM's end of its only connection, whose name has the number
	// of the device in it. vmAPI is the address in the VM that leads to the API server.
	vmPorts = "/dev/vport*p1"
	vmAPI   = "127.0.0.1:6443"
)

// openHere is the lab in dir for a process that runs where its nodes do.
func openHere(dir string) (*Lab, error) {
	opts := Options{Root: filepath.Dir(dir), Name: filepath.Base(dir)}
	if err := opts.complete(); err != nil {
		return nil, err
	}
	rec, err := readRecord(dir)
	if err != nil {
		return nil, err
	}
	l := &Lab{opts: opts, dir: dir, rec: rec}
	l.at = here{l}
	return l, nil
}

// runVMAgent is the main of the process in the VM that carries out orders: for
// it, "here" is the VM.
func runVMAgent(ctx context.Context, dir string) error {
	var port *os.File
	err := poll(ctx, vmBoot, func() error { // The driver names it when it is ready for it.
		found, err := filepath.Glob(vmPorts)
		if err == nil && len(found) != 1 {
			err = fmt.Errorf("%d files match %s", len(found), vmPorts)
		}
		if err == nil {
			port, err = os.OpenFile(found[0], os.O_RDWR, 0)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("opening the VM's port: %w", err)
	}
	if err := awaitPeer(port); err != nil {
		return err
	}
	session, err := yamux.Server(port, sessionConfig())
	if err != nil {
		return fmt.Errorf("beginning a session: %w", err)
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", vmAPI)
	if err != nil {
		return fmt.Errorf("opening the way to the API server: %w", err)
	}
	go passFunctions(ctx, filepath.Dir(dir))
	go acceptAll(ln, func() (io.ReadWriteCloser, error) { return session.Open() })
	for {
		stream, err := session.Accept()
		if err != nil {
			return fmt.Errorf("the session has ended: %w", err)
		}
		go serveOrder(ctx, filepath.Dir(dir), stream)
	}
}

// awaitPeer waits until somebody is at the other end; before, a read says that
// the port is at its end.
func awaitPeer(port *os.File) error {
	raw, err := port.SyscallConn()
	if err != nil {
		return fmt.Errorf("looking at the VM's port: %w", err)
	}
	var polled error
	err = raw.Control(func(fd uintptr) {
		for {
			fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
			_, polled = unix.Poll(fds, 100)
			if polled == nil && fds[0].Revents&unix.POLLOUT != 0 && fds[0].Revents&unix.POLLHUP == 0 {
				return
			}
			if polled != nil && !errors.Is(polled, unix.EINTR) {
				return
			}
		}
	})
	if err := errors.Join(err, polled); err != nil {
		return fmt.Errorf("waiting for the machine at the VM's port: %w", err)
	}
	return nil
}

func serveOrder(ctx context.Context, dir string, stream net.Conn) {
	defer func() { _ = stream.Close() }()
	var order request
	if err := readLine(stream, &order); err != nil {
		return // the asker is gone
	}
	// Up and others write down what there is to know while the agent runs.
	lab, err := openHere(dir)
	if err != nil {
		_ = tell(stream, response{Error: err.Error()}) // The asker may be gone.
		return
	}
	switch order.Verb {
	case "run":
		serveRun(ctx, stream, lab.at, order)
		return
	case "dial":
		serveDial(ctx, stream, lab.at, order)
		return
	}
	res, err := carry(ctx, lab, order)
	if err != nil {
		res.Error = err.Error()
	}
	_ = tell(stream, res) // The asker may be gone.
}

func carry(ctx context.Context, lab *Lab, order request) (response, error) {
	if order.Verb == "wait" {
		return response{}, nil
	}
	if order.Ask != nil && order.Ask.Verb == "api" && order.Ask.Target != "off" {
		order.Ask.Target = vmAPI
	}
	return lab.at.do(ctx, order)
}

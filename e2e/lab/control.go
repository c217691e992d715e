//go:build linux

package lab

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
)

// request is one line of JSON to a process of the lab; the answer is one line.
type request struct {
	Verb   string `json:"verb"` // wait, status, start, stop, kill, restart, pause, resume, api, gateway, freeze, or an order (place.go)
	Target string `json:"target,omitempty"`

	// Of orders:
	Node string   `json:"node,omitempty"`
	Dir  string   `json:"dir,omitempty"`
	Ask  *request `json:"ask,omitempty"`
	// In has a stop, kill or halt wait for a phase.
	In *inPhase `json:"in,omitempty"`
	// Of run and dial, which go on as streams (stream.go):
	Args    []string `json:"args,omitempty"`
	Env     []string `json:"env,omitempty"`
	Address string   `json:"address,omitempty"`
}

type response struct {
	Error string       `json:"error,omitempty"`
	Units []UnitStatus `json:"units,omitempty"`
	PID   int          `json:"pid,omitempty"`
	Text  string       `json:"text,omitempty"`
	// Waited is how many phases a request with In has passed.
	Waited int `json:"waited,omitempty"`
}

// UnitStatus is what runs in a node or in the fabric.
type UnitStatus struct {
	Name string `json:"name"`
	// State is running, stopped, exited (its last end is in Reason), waiting
	// (between two starts after a crash) or held (not before the API server has
	// answered, see kubelet.go; why it has not is in Reason).
	State    string `json:"state"`
	PID      int    `json:"pid,omitempty"` // in the pid namespace of the node
	Restarts int    `json:"restarts"`
	Reason   string `json:"reason,omitempty"`
}

// serve answers requests on FOLDER/control until ctx ends. A request may take
// long, so each has its goroutine.
func serve(ctx context.Context, dir string, answer func(context.Context, request) response) error {
	path := filepath.Join(dir, "control")
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("removing the old control socket: %w", err)
	}
	var config net.ListenConfig
	ln, err := config.Listen(ctx, "unix", path)
	if err != nil {
		return fmt.Errorf("opening the control socket: %w", err)
	}
	go func() {
		<-ctx.Done()
		_ = ln.Close()
	}()
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go serveOne(ctx, conn, answer)
		}
	}()
	return nil
}

func serveOne(ctx context.Context, conn net.Conn, answer func(context.Context, request) response) {
	defer func() { _ = conn.Close() }()
	var req request
	if err := json.NewDecoder(bufio.NewReader(conn)).Decode(&req); err != nil {
		return // the asker is gone
	}
	if err := json.NewEncoder(conn).Encode(answer(ctx, req)); err != nil {
		return // so it is now
	}
}

// ask sends one request to the process whose folder is dir.
func ask(ctx context.Context, dir string, req request) (response, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", filepath.Join(dir, "control"))
	if err != nil {
		return response{}, fmt.Errorf("reaching the lab process of %s: %w", dir, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	defer func() { _ = conn.Close() }()
	if err := json.NewEncoder(conn).Encode(req); err != nil {
		return response{}, fmt.Errorf("asking %s for %s: %w", dir, req.Verb, err)
	}
	var res response
	if err := json.NewDecoder(conn).Decode(&res); err != nil {
		return response{}, fmt.Errorf("no answer to %s %s: %w", req.Verb, req.Target, errors.Join(ctx.Err(), err))
	}
	if res.Error != "" {
		return res, errors.New(res.Error)
	}
	return res, nil
}

// spawned is a process that this command has started.
type spawned struct {
	lab       *Lab
	role, dir string
	// ended is closed when it has.
	ended <-chan struct{}
}

// awaitReady waits until the process says that it is up. When it ends instead,
// the error carries the end of its log.
func (s spawned) awaitReady(ctx context.Context) error {
	log := filepath.Join(s.dir, s.role+".log")
	err := s.lab.until(ctx, s.role, func() (bool, error) {
		select {
		case <-s.ended:
			return true, fmt.Errorf("%s ended at once: %s", s.role, lastLines(log, 3))
		default:
		}
		var dialer net.Dialer
		conn, err := dialer.DialContext(ctx, "unix", filepath.Join(s.dir, "control"))
		if err != nil {
			return false, err
		}
		return true, conn.Close()
	})
	if err != nil {
		return err
	}
	if _, err := ask(ctx, s.dir, request{Verb: "wait"}); err != nil {
		return fmt.Errorf("%s: %w (log: %s)", s.role, err, lastLines(log, 3))
	}
	return nil
}

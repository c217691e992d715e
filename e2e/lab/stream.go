//go:build linux

package lab

import (
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"sync"
	"syscall"
)

// A connection that carries an order may go on as a stream:
//
//	host                                   VM
//	{"verb":"run","args":["cat"]} ───────►
//	input, the end of it          ───────► program
//	                              ◄─────── output, errors, how it ended
//
//	{"verb":"dial","address":…}   ───────►
//	                              ◄─────── {} or {"error":…}
//	bytes                         ◄──────► bytes

// frame is a piece of what goes to a program or comes from it.
type frame struct {
	In, Out, Err []byte
	EOF          bool   // no more input
	Ended        bool   // of the program, with
	Code         int    // its exit code, 128 and the signal's number if one ended it,
	Failed       string // or why it did not run
}

// exited is the Exit of a program in a VM.
type exited int

func (e exited) Error() string { return fmt.Sprintf("exit status %d", int(e)) }
func (e exited) ExitCode() int { return int(e) }

// exitCode tells an exit from another error.
func exitCode(err error) (int, bool) {
	ended := &exec.ExitError{}
	if !errors.As(err, &ended) {
		return 0, err == nil
	}
	if status, ok := ended.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), true
	}
	return ended.ExitCode(), true
}

// sender writes frames from several goroutines.
type sender struct {
	mu  sync.Mutex
	enc *gob.Encoder
}

func (s *sender) send(f frame) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.enc.Encode(f)
}

// sending is one of a program's streams as a writer of frames.
type sending func([]byte) error

func (w sending) Write(p []byte) (int, error) {
	if err := w(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// remoteRun has a program run at the other end of conn, and closes that.
func remoteRun(ctx context.Context, conn net.Conn, node string, c Command) error {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	defer func() { _ = conn.Close() }()
	if err := json.NewEncoder(conn).Encode(request{Verb: "run", Node: node, Args: c.Args, Env: c.Env, Dir: c.Dir}); err != nil {
		return fmt.Errorf("asking the VM to run %s: %w", c.Args[0], err)
	}
	to := &sender{enc: gob.NewEncoder(conn)}
	go func() {
		if c.Stdin != nil {
			// An error is the program's end, or will be.
			_, _ = io.Copy(sending(func(p []byte) error { return to.send(frame{In: p}) }), c.Stdin)
		}
		_ = to.send(frame{EOF: true})
	}()
	from := gob.NewDecoder(conn)
	for {
		var f frame
		if err := from.Decode(&f); err != nil {
			return fmt.Errorf("the VM no longer tells of %s: %w", c.Args[0], errors.Join(ctx.Err(), err))
		}
		if err := errors.Join(writeTo(c.Stdout, f.Out), writeTo(c.Stderr, f.Err)); err != nil {
			return fmt.Errorf("passing on what %s says: %w", c.Args[0], err)
		}
		switch {
		case f.Failed != "":
			return errors.New(f.Failed)
		case f.Ended && f.Code != 0:
			return exited(f.Code)
		case f.Ended:
			return nil
		}
	}
}

func writeTo(w io.Writer, p []byte) error {
	if w == nil || len(p) == 0 {
		return nil
	}
	_, err := w.Write(p)
	return err
}

// serveRun is the other end of remoteRun. A conn that ends kills the program.
func serveRun(ctx context.Context, conn io.ReadWriter, at place, order request) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	to := &sender{enc: gob.NewEncoder(conn)}
	input, feed := io.Pipe()
	go func() {
		defer cancel()
		from := gob.NewDecoder(conn)
		for {
			var f frame
			if err := from.Decode(&f); err != nil {
				_ = feed.CloseWithError(err)
				return
			}
			if f.EOF {
				_ = feed.Close()
			} else if _, err := feed.Write(f.In); err != nil {
				continue // the program reads no more
			}
		}
	}()
	err := at.run(ctx, order.Node, Command{
		Args: order.Args, Env: order.Env, Dir: order.Dir, Stdin: input,
		Stdout: sending(func(p []byte) error { return to.send(frame{Out: p}) }),
		Stderr: sending(func(p []byte) error { return to.send(frame{Err: p}) }),
	})
	_ = input.Close()
	end := frame{Ended: true}
	code, ran := exitCode(err)
	if end.Code = code; !ran {
		end.Failed = err.Error()
	}
	_ = to.send(end) // Who asked may be gone.
}

// remoteDial has the other end of conn dial, and returns conn as the connection.
func remoteDial(ctx context.Context, conn net.Conn, node, network, address string) (net.Conn, error) {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	err := json.NewEncoder(conn).Encode(request{Verb: "dial", Node: node, Target: network, Address: address})
	var res response
	if err == nil {
		err = readLine(conn, &res)
	}
	if err == nil && res.Error != "" {
		err = errors.New(res.Error)
	}
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("dialling %s from %s: %w", address, node, errors.Join(ctx.Err(), err))
	}
	return conn, nil
}

// serveDial is the other end of remoteDial.
func serveDial(ctx context.Context, conn io.ReadWriteCloser, at place, order request) {
	out, err := at.dial(ctx, order.Node, order.Target, order.Address)
	if err != nil {
		_ = tell(conn, response{Error: err.Error()}) // Who asked may be gone.
		return
	}
	if tell(conn, response{}) == nil {
		splice(conn, out)
	}
	_ = out.Close()
}

// tell writes an answer.
func tell(to io.Writer, res response) error {
	if err := json.NewEncoder(to).Encode(res); err != nil {
		return fmt.Errorf("answering: %w", err)
	}
	return nil
}

// readLine reads a line of JSON and nothing that comes after it.
func readLine(from io.Reader, into any) error {
	var line []byte
	for one := make([]byte, 1); len(line) == 0 || line[len(line)-1] != '\n'; {
		n, err := from.Read(one)
		if n == 0 && err != nil {
			return err
		}
		line = append(line, one[:n]...)
	}
	return json.Unmarshal(line, into)
}

// splice copies both ways until both are at their end, and closes both.
func splice(a, b io.ReadWriteCloser) {
	done := make(chan struct{}, 2)
	copyOne := func(to, from io.ReadWriteCloser) {
		_, _ = io.Copy(to, from)
		if half, ok := to.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		} else {
			_ = to.Close() // A stream of yamux can still be read.
		}
		done <- struct{}{}
	}
	go copyOne(a, b)
	go copyOne(b, a)
	<-done
	<-done
	_, _ = a.Close(), b.Close()
}

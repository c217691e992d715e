package controlplane

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
)

const (
	// lastLines is how much of a log an error shows.
	lastLines = 5
	// lineMax is where a line of a log is cut in an error, in bytes.
	lineMax = 400
)

// process is a program that was started and has not been forgotten yet.
type process struct {
	name    string
	log     string
	command *exec.Cmd
	// ended is closed when it has ended; err is valid from then on.
	ended chan struct{}
	err   error
	// asked says that its end was asked for.
	asked atomic.Bool
}

// start runs a program in dir with its output appended to a log.
func start(binary, dir, log string, args ...string) (*process, error) {
	output, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	p := &process{name: filepath.Base(binary), log: log, ended: make(chan struct{})}
	p.command = exec.Command(binary, args...)
	p.command.Dir = dir
	// An API server makes much garbage and keeps little: an eighth of the CPU that its start
	// takes is saved for a quarter of a gigabyte. A GOGC of the environment wins.
	p.command.Env = append([]string{"GOGC=400"}, p.command.Environ()...)
	p.command.Stdout, p.command.Stderr = output, output
	p.command.SysProcAttr = attributes()

	started := make(chan error)
	go func() {
		defer func() { _ = output.Close() }()
		// The kernel's parent death signal follows the thread that forked, not
		// the process: this thread has to live as long as the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.command.Start()
		started <- err
		if err != nil {
			return
		}
		p.err = p.command.Wait()
		close(p.ended)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", p.name, err)
	}
	return p, nil
}

func (p *process) running() bool {
	if p == nil {
		return false
	}
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// kill ends the process at once and returns when it is gone.
func (p *process) kill() {
	if p == nil {
		return
	}
	p.signal(syscall.SIGKILL)
	<-p.ended
}

// signal asks for the end of the process. One that has ended is no error.
func (p *process) signal(signal os.Signal) {
	p.asked.Store(true)
	_ = p.command.Process.Signal(signal)
}

// failure tells how the process ended, with the end of its log.
func (p *process) failure() error {
	how := "exit status 0"
	if p.err != nil {
		how = p.err.Error()
	}
	return fmt.Errorf("%s ended by itself (%s); %s", p.name, how, p.tail())
}

// tail is the end of the log, and where the log is.
func (p *process) tail() string {
	lines := tail(p.log, lastLines)
	if len(lines) == 0 {
		return "its log " + p.log + " is empty"
	}
	return "the end of " + p.log + ":\n  " + strings.Join(lines, "\n  ")
}

// tail returns the last lines of a file, none if it cannot be read.
func tail(path string, lines int) []string {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err == nil && info.Size() > 64*1024 {
		if _, err := file.Seek(-64*1024, io.SeekEnd); err != nil {
			return nil
		}
	}
	content, err := io.ReadAll(file)
	if err != nil {
		return nil
	}
	all := bytes.Split(bytes.TrimSpace(content), []byte("\n"))
	var last []string
	for _, line := range all[max(0, len(all)-lines):] {
		if len(line) > lineMax {
			line = append(line[:lineMax:lineMax], "..."...)
		}
		if len(line) > 0 {
			last = append(last, string(line))
		}
	}
	return last
}

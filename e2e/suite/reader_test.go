//go:build linux

package suite

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

// promptAgain is what the shell prints when a command has ended, with its exit
// status.
const promptAgain = "\x01ended "

// reader types commands into one shell, as somebody does who follows the pages.
type reader struct {
	shell *exec.Cmd
	typed io.WriteCloser
	lines chan string
	// script holds the command that is being typed: sourced, so that what it
	// exports stays, and it cannot read what is typed after it.
	script string
	// root is where the walk's lab is, instead of the default folder: a lab of
	// that name may be up on this machine.
	root string
}

// newReader opens a shell in the repository's root, as the pages tell.
func newReader(root string) *reader {
	GinkgoHelper()
	r := &reader{root: root, script: filepath.Join(root, "typed"), lines: make(chan string)}
	r.shell = exec.CommandContext(context.Background(), "bash", "--norc", "--noprofile")
	r.shell.Dir = filepath.Dir(bin)
	r.shell.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	r.shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var err error
	r.typed, err = r.shell.StdinPipe()
	Expect(err).NotTo(HaveOccurred())
	printed, write, err := os.Pipe()
	Expect(err).NotTo(HaveOccurred())
	r.shell.Stdout, r.shell.Stderr = write, write
	Expect(r.shell.Start()).To(Succeed())
	Expect(write.Close()).To(Succeed())
	go func() {
		defer close(r.lines)
		for all := bufio.NewReader(printed); ; {
			line, err := all.ReadString('\n')
			if line != "" {
				r.lines <- line
			}
			if err != nil {
				return
			}
		}
	}()
	return r
}

// types types a command and returns what it prints, and its exit status.
func (r *reader) types(ctx context.Context, command string) (string, int) {
	GinkgoHelper()
	command = strings.ReplaceAll(command, lab.DefaultRoot, r.root)
	command = strings.ReplaceAll(command, "bin/lab ", "bin/lab --root "+r.root+" ")
	Expect(os.WriteFile(r.script, []byte(command+"\n"), 0o600)).To(Succeed())
	_, err := fmt.Fprintf(r.typed, ". %s </dev/null\nprintf '%s%%d\\n' $?\n", r.script, promptAgain)
	Expect(err).NotTo(HaveOccurred())
	var printed strings.Builder
	for {
		select {
		case <-ctx.Done():
			Fail("it has not ended; until now it printed:\n" + printed.String())
		case line, open := <-r.lines:
			if !open {
				Fail("the shell has ended; before it printed:\n" + printed.String())
			}
			before, status, ended := strings.Cut(line, promptAgain)
			printed.WriteString(before)
			if ended {
				code, err := strconv.Atoi(strings.TrimSpace(status))
				Expect(err).NotTo(HaveOccurred())
				return printed.String(), code
			}
		}
	}
}

// leaves ends the shell and what it started in the background.
func (r *reader) leaves() {
	_ = syscall.Kill(-r.shell.Process.Pid, syscall.SIGKILL)
	go func() {
		for range r.lines { // until nobody writes any more
		}
	}()
	_ = r.shell.Wait()
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/mattn/go-colorable"
	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"
)

// version is stamped by the linker.
var version = "devel"

// Exit codes.
const (
	exitFailed = 1
	exitUsage  = 2
	exitWaits  = 3
)

var (
	// errUsage marks what the caller has to change on the command line.
	errUsage = errors.New("usage")
	// errWaits marks that nothing goes on until a person does something.
	errWaits = errors.New("waits for a person")
	// errSaid marks what was printed already.
	errSaid = errors.New("failed")
	// errInterrupted is how it ends when somebody ends it.
	errInterrupted = errors.New("interrupted")
)

// completer is the name by which kubectl asks a plugin for completions.
const completer = "kubectl_complete-nmstate"

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer cancel()
	p := newPlugin(genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}, clock.RealClock{})
	if descriptor := int(os.Stdout.Fd()); term.IsTerminal(descriptor) {
		p.Out = colorable.NewColorable(os.Stdout)
		p.terminal = func() (width, height int) {
			width, height, _ = term.GetSize(descriptor)
			return width, height
		}
		p.colour = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	cmd := p.command()
	if called := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe"); called == completer {
		cmd.SetArgs(append([]string{cobra.ShellCompRequestCmd}, os.Args[1:]...))
	}
	os.Exit(p.code(cmd.ExecuteContext(ctx)))
}

// troubled is a failure of a command whose exit code 1 is an answer, as of kubectl diff.
type troubled struct{ error }

func (t troubled) Unwrap() error { return t.error }

// trouble tells failures from the answer that something differs.
func trouble(err error) error {
	if err == nil || errors.Is(err, errSaid) {
		return err
	}
	return troubled{err}
}

// code says what went wrong, in one line, and which exit code that is.
func (p *plugin) code(err error) int {
	said := ""
	if err != nil {
		said = strings.ReplaceAll(err.Error(), "\n", " ")
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errSaid):
		return exitFailed
	case errors.Is(err, errWaits):
		fmt.Fprintln(p.ErrOut, said)
		return exitWaits
	}
	fmt.Fprintln(p.ErrOut, "kubectl-nmstate: "+said)
	if errors.Is(err, errUsage) || errors.As(err, &troubled{}) {
		return exitUsage
	}
	return exitFailed
}

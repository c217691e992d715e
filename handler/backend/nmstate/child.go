package nmstate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// report is what the child says at its end: one JSON line on stdout.
type report struct {
	// Checkpoint is the one that nmstate made, empty if it came not so far.
	Checkpoint string   `json:"checkpoint,omitempty"`
	Done       bool     `json:"done,omitempty"`
	Error      *failure `json:"error,omitempty"`
}

// ChildCommand is the hidden subcommand that Apply starts: it applies the
// state on its standard input and does not commit it. It belongs into the
// binary that Options.Executable names.
func ChildCommand() *cobra.Command {
	var options trialOptions
	var logs bool
	command := &cobra.Command{
		Use:    "apply",
		Short:  "Apply the network state on standard input without committing it",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			log := io.Discard
			if logs {
				log = cmd.ErrOrStderr()
			}
			return applyInChild(cmd.InOrStdin(), cmd.OutOrStdout(), log, options)
		},
	}
	command.Flags().DurationVar(&options.rollbackAfter, "rollback-after", 0, "how long the checkpoint lives after the apply")
	command.Flags().BoolVar(&options.verify, "verify", false, "have libnmstate read the state back")
	command.Flags().BoolVar(&logs, "logs", false, "write libnmstate's log to standard error")
	return command
}

// trialOptions are how a child applies.
type trialOptions struct {
	rollbackAfter time.Duration
	// verify has libnmstate read the state back (see verifiesItself).
	verify bool
}

func applyInChild(in io.Reader, out, log io.Writer, options trialOptions) error {
	desired, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("reading the desired state: %w", err)
	}
	if len(desired) == 0 {
		return errDismissed
	}
	var kept bytes.Buffer
	said := report{Done: true}
	if err := applyUncommitted(string(desired), options, io.MultiWriter(&kept, log)); err != nil {
		failed := failureOf(err)
		said = report{Error: &failed}
	}
	said.Checkpoint = checkpointIn(kept.Bytes())
	if err := json.NewEncoder(out).Encode(said); err != nil {
		return fmt.Errorf("reporting the apply: %w", err)
	}
	return nil
}

var createdCheckpoint = regexp.MustCompile(`Created checkpoint (/[A-Za-z0-9_/]+)`)

// checkpointIn finds the checkpoint in libnmstate's log, the only place where
// the library itself tells it, and only after the apply.
func checkpointIn(log []byte) string {
	if found := createdCheckpoint.FindSubmatch(log); found != nil {
		return string(found[1])
	}
	return ""
}

// errDismissed is why a child ends that was started and is not needed.
var errDismissed = errors.New("there is no state to apply")

// child is the process that applies. It is started before it is needed, since
// that takes as long as all that is read meanwhile, and does nothing until it
// has its state.
type child struct {
	input *io.PipeWriter
	kill  context.CancelFunc
	// ended gets one value.
	ended chan ending
}

// ending is how the child ended: with a report, or without one and err.
type ending struct {
	report report
	err    error
}

// startChild starts a child, which ends soon after ctx or when it is dismissed.
func (b *Backend) startChild(ctx context.Context, rollbackAfter time.Duration, verify bool) *child {
	ctx, kill := context.WithCancel(ctx)
	output, input := io.Pipe()
	program := process{
		path:   b.options.Executable,
		args:   []string{"apply", "--rollback-after", rollbackAfter.String(), fmt.Sprintf("--verify=%t", verify)},
		stdin:  output,
		stderr: b.options.Logs,
	}
	if b.options.Logs != nil {
		program.args = append(program.args, "--logs")
	}
	program.env = []string{noScripts}
	if b.options.Bus != "" {
		program.env = append(program.env, "DBUS_SYSTEM_BUS_ADDRESS="+b.options.Bus)
	}
	c := &child{input: input, kill: kill, ended: make(chan ending, 1)}
	go func() {
		out, err := program.run(ctx)
		_ = output.Close() // Nobody reads what is still to come.
		c.ended <- endingOf(out, err)
	}()
	return c
}

func endingOf(out []byte, err error) ending {
	var said report
	if json.Unmarshal(out, &said) == nil && (said.Done || said.Error != nil) {
		return ending{report: said}
	}
	if err == nil {
		err = errors.New("the child ended without a report")
	}
	return ending{err: err}
}

// apply gives the child its state; how it ends is told to c.ended.
func (c *child) apply(desired state.State) {
	go func() {
		_, _ = c.input.Write(desired.JSON()) // One that does not take it has ended.
		_ = c.input.Close()
	}()
}

// dismiss ends a child that was given no state: it is killed, and would refuse the
// empty input that it finds otherwise. One that has ended is left alone.
func (c *child) dismiss() {
	c.kill()
	_ = c.input.CloseWithError(errDismissed)
}

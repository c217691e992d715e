package nmstate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"time"

	"github.com/spf13/cobra"
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
	var rollbackAfter time.Duration
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
			return applyInChild(cmd.InOrStdin(), cmd.OutOrStdout(), log, rollbackAfter)
		},
	}
	command.Flags().DurationVar(&rollbackAfter, "rollback-after", 0, "how long the checkpoint lives after the apply")
	command.Flags().BoolVar(&logs, "logs", false, "write libnmstate's log to standard error")
	return command
}

func applyInChild(in io.Reader, out, log io.Writer, rollbackAfter time.Duration) error {
	desired, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("reading the desired state: %w", err)
	}
	var kept bytes.Buffer
	said := report{Done: true}
	if err := applyUncommitted(string(desired), rollbackAfter, io.MultiWriter(&kept, log)); err != nil {
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

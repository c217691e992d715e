//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// followPoll is how often a log that is followed is looked at.
const followPoll = 200 * time.Millisecond

func newLogs(w *where) *cobra.Command {
	units := []string{"handler", "nm", "dbus", "node-init"}
	followed := false
	cmd := &cobra.Command{
		Use:               "logs NODE [handler|nm|dbus|node-init]",
		Short:             "Print the log of a node's handler, or of another program of it",
		Example:           "  lab logs node1\n  lab logs -f node1 nm",
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: w.completeThen(units),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := w.node(args[0])
			if err != nil {
				return err
			}
			unit := "handler"
			if len(args) == 2 {
				unit = args[1]
			}
			if !slices.Contains(units, unit) {
				return fmt.Errorf("%q is none of %s", unit, strings.Join(units, ", "))
			}
			f, err := os.Open(n.LogPath(unit))
			if err != nil {
				return fmt.Errorf("opening the log: %w", err)
			}
			defer func() { _ = f.Close() }()
			if followed {
				return follow(cmd.Context(), cmd.OutOrStdout(), f)
			}
			_, err = io.Copy(cmd.OutOrStdout(), f)
			return err
		},
	}
	cmd.Flags().BoolVarP(&followed, "follow", "f", false, "go on with what is logged, until Ctrl-C")
	return cmd
}

// follow copies the log and what is added to it until ctx ends, or the lab is taken
// down and its log with it.
func follow(ctx context.Context, out io.Writer, log *os.File) error {
	ticker := time.NewTicker(followPoll)
	defer ticker.Stop()
	for {
		if _, err := io.Copy(out, log); err != nil {
			return err
		}
		if _, err := os.Stat(log.Name()); errors.Is(err, os.ErrNotExist) {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

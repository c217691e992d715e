//go:build linux

package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/nmstate/kubernetes-nmstate/e2e/cluster"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

// Exit codes: what the machine lacks is told apart from what went wrong.
const (
	exitFailed      = 1
	exitUnavailable = 2
	exitInterrupted = 130
)

// labName keeps the demo apart from a lab that somebody has up.
const labName = "demo"

// logs is where the parts' logs are kept when something went wrong.
const logs = "out/demo"

//go:embed topology.yaml
var topology []byte

func main() {
	ctx := context.Background()
	if code, ok := lab.Child(ctx, os.Args); ok {
		os.Exit(code)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	code := 0
	err := command(&code).ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "demo: %v; see demo --help\n", err)
		code = exitUnavailable
	}
	os.Exit(code)
}

// version is stamped by the linker.
var version = "devel"

// command is the demo and, below it, what ends one that was kept. The exit code
// goes to code: what went wrong is told where it is known what is left.
func command(code *int) *cobra.Command {
	d := &demo{}
	var began int64
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show a policy applied, one rolled back, and one that a power cut forgets",
		Long: `Brings a lab of three nodes up and shows on it a policy that is applied, one that
cuts a node off and is rolled back, and one whose node loses its power in mid-trial.
Everything lies in network namespaces; nothing is left behind.

Exit codes: 0 shown, 1 failed, 2 wrong usage or the machine lacks something,
130 interrupted.`,
		Example: `  make demo                 # builds what is needed, too
  demo --bin bin
  demo --keep && demo down`,
		Version:       version,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d.stage = newStage(os.Stdout, time.Unix(began, 0))
			*code = d.showAlone(cmd.Context())
			return nil
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&d.keep, "keep", os.Getenv("KEEP") == "1", "stay up at the end (default: environment KEEP is 1)")
	flags.StringVar(&d.bin, "bin", "bin", "folder with the programs handler, controllers and lab")
	flags.StringVar(&d.revertHelper, "revert-helper", os.Getenv("NMSTATE_REVERT"), "program nmstate-revert (default: environment NMSTATE_REVERT)")
	flags.Int64Var(&began, "since", time.Now().Unix(), "when the demo began, in Unix seconds")
	cmd.AddCommand(&cobra.Command{
		Use: "down", Short: "End a demo that was kept", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			*code = d.exit(cmd.Context(), cluster.Down(cmd.Context(), "", labName))
			return nil
		},
	})
	return cmd
}

// showAlone shows the demo where no other one runs.
func (d *demo) showAlone(ctx context.Context) int {
	release, err := cluster.Claim(ctx, labName)
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		return exitFailed
	}
	defer release()
	return d.exit(ctx, d.showAndCleanUp(ctx))
}

// exit says what went wrong in one line.
func (d *demo) exit(ctx context.Context, err error) int {
	missing := &lab.UnavailableError{}
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "demo: interrupted"+d.remains())
		return exitInterrupted
	case errors.As(err, &missing):
		fmt.Fprintln(os.Stderr, "demo:", err)
		return exitUnavailable
	}
	fmt.Fprintf(os.Stderr, "demo: %s: %v%s%s\n", d.doing, err, d.logs(), d.remains())
	return exitFailed
}

func (d *demo) remains() string {
	if d.keep && d.up {
		return "; it is still up (KEEP=1), end it with: make demo-down"
	}
	return "; nothing is left behind"
}

// logs says where to look; what never came up has said it all in its error.
func (d *demo) logs() string {
	switch {
	case !d.up:
		return ""
	case d.keep:
		return "; logs are in " + filepath.Join(lab.DefaultRoot, labName) + " and " + logs
	}
	return "; logs are in " + logs
}

// showAndCleanUp leaves nothing behind, whatever happens, unless it shall stay.
func (d *demo) showAndCleanUp(ctx context.Context) error {
	if err := os.RemoveAll(logs); err != nil {
		return fmt.Errorf("removing the logs of the last demo: %w", err)
	}
	err := d.show(ctx)
	if d.keep && d.up {
		return err
	}
	// A second Ctrl-C shall not stop this, but nor shall it take for ever.
	cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if err != nil && d.up && ctx.Err() == nil {
		err = errors.Join(err, cluster.SaveLogs("", labName, logs))
	}
	if d.up {
		d.say("taking everything down")
	}
	if down := cluster.Down(cleanup, "", labName); down != nil {
		return errors.Join(err, fmt.Errorf("cleaning up: %w", down))
	}
	if err == nil {
		d.good("done: nothing is left behind")
	}
	return err
}

//go:build linux

package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

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
	code := run(ctx)
	stop()
	os.Exit(code)
}

func run(ctx context.Context) int {
	d := &demo{}
	began := int64(0)
	flag.BoolVar(&d.keep, "keep", os.Getenv("KEEP") == "1", "stay up at the end (default: environment KEEP is 1)")
	flag.StringVar(&d.bin, "bin", "bin", "folder with the programs handler, controllers and lab")
	flag.StringVar(&d.revertHelper, "revert-helper", os.Getenv("NMSTATE_REVERT"), "program nmstate-revert (default: environment NMSTATE_REVERT)")
	flag.Int64Var(&began, "since", time.Now().Unix(), "when the demo began, in Unix seconds")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "demo shows a policy applied and one rolled back; demo down ends one that was kept (KEEP=1).")
		flag.PrintDefaults()
	}
	flag.Parse()
	d.stage = newStage(os.Stdout, time.Unix(began, 0))
	switch {
	case flag.NArg() == 1 && flag.Arg(0) == "down":
		return d.exit(ctx, cluster.Down(ctx, "", labName))
	case flag.NArg() > 0:
		fmt.Fprintf(os.Stderr, "demo: unexpected argument %q; there is only: demo down\n", flag.Arg(0))
		return exitUnavailable
	}
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

//go:build linux

package lab

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

//go:embed noderoot.sh
var nodeRootScript string

// chooseNM settles which NetworkManager each node has, where it comes from, and
// says it, one line for each.
func (l *Lab) chooseNM(ctx context.Context) error {
	if l.opts.VM {
		if err := l.chooseVM(ctx); err != nil {
			return err
		}
	}
	l.rec.NM = l.opts.NM
	if l.rec.NM == nmAuto && l.rec.Bases[NM152] != "" {
		l.rec.NM = NM152
	}
	if l.rec.NM == nmAuto {
		l.rec.NM = NM152
		root, err := l.base(ctx, NM152)
		switch {
		case err == nil:
			l.rec.Bases[NM152] = root
		case ctx.Err() != nil:
			return err
		default:
			l.opts.Progress("no NetworkManager 1.52: " + err.Error())
			l.rec.NM = nmHost
		}
	}
	for _, n := range l.Nodes() {
		nm := n.nm()
		if l.rec.Bases[nm] != "" {
			continue
		}
		root, err := l.base(ctx, nm)
		if err != nil {
			return fmt.Errorf("NetworkManager %s: %w", nm, err)
		}
		l.rec.Bases[nm] = root
	}
	return nil
}

// nm is the NetworkManager of a node, one of networkManagers.
func (n *Node) nm() string {
	if n.spec.NM != "" {
		return n.spec.NM
	}
	return n.lab.rec.NM
}

// NetworkManager says which one the node has: "1.42", "1.52" or "host".
func (n *Node) NetworkManager() string { return n.nm() }

// base returns the root from which nodes with that NetworkManager take their
// programs.
func (l *Lab) base(ctx context.Context, nm string) (string, error) {
	if nm == nmHost {
		if err := havePrograms("NetworkManager", "dbus-daemon"); err != nil {
			return "", err
		}
		l.opts.Progress("NetworkManager of this machine")
		return "/", nil
	}
	root, err := nodeRoot(ctx, nm, "--print")
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(root, "usr")); err != nil {
		l.opts.Progress("making a Debian root with NetworkManager " + nm + ", about a minute, once")
		if root, err = nodeRoot(ctx, nm); err != nil {
			return "", &UnavailableError{err.Error()}
		}
	}
	l.opts.Progress("NetworkManager " + nm + ", from " + root)
	return root, nil
}

// nodeRoot runs noderoot.sh, which prints a folder.
func nodeRoot(ctx context.Context, args ...string) (string, error) {
	return runScript(ctx, nodeRootScript, args...)
}

// runScript runs a script of ours whose last line of errors says what is wrong.
// When ctx ends, all that it has started ends too, and it takes away what it has
// made by half.
func runScript(ctx context.Context, script string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "bash", append([]string{"-s", "--"}, args...)...)
	cmd.Stdin = strings.NewReader(script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
		last := lines[len(lines)-1]
		return "", errors.New(strings.TrimPrefix(strings.TrimPrefix(last, "noderoot: "), "vmroot: "))
	}
	return strings.TrimSpace(out.String()), nil
}

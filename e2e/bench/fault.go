//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// silenceDNS freezes the gateway's DNS server: queries reach it and are never
// answered, which costs a client more than a refusal. The handler is started
// anew, so that its baseline is that of a node that has always been so.
func (b *bench) silenceDNS(ctx context.Context) error {
	if err := b.signalDNS(ctx, syscall.SIGSTOP); err != nil {
		return err
	}
	return b.freshHandler(ctx)
}

// silenceGateway makes the gateway ignore pings too.
func (b *bench) silenceGateway(ctx context.Context) error {
	if err := b.ignorePings(ctx, "1"); err != nil {
		return err
	}
	return b.freshHandler(ctx)
}

func (b *bench) healFabric(ctx context.Context) error {
	if err := b.signalDNS(ctx, syscall.SIGCONT); err != nil {
		return err
	}
	if err := b.ignorePings(ctx, "0"); err != nil {
		return err
	}
	return b.freshHandler(ctx)
}

func (b *bench) freshHandler(ctx context.Context) error {
	if err := b.one.Handler(ctx, "restart"); err != nil {
		return err
	}
	b.settle(ctx, baselineWarm)
	return ctx.Err()
}

func (b *bench) fabric(ctx context.Context) (int, error) {
	pid := b.cluster.Status(ctx).Fabric.PID
	if pid == 0 {
		return 0, fmt.Errorf("the lab's fabric is not running")
	}
	return pid, nil
}

// signalDNS signals the dnsmasq processes that the fabric started.
func (b *bench) signalDNS(ctx context.Context, signal syscall.Signal) error {
	parent, err := b.fabric(ctx)
	if err != nil {
		return err
	}
	found, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return err
	}
	signalled := 0
	for _, path := range found {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue // it has just ended
		}
		// pid (comm) state ppid …
		fields := strings.Fields(string(raw))
		if len(fields) < 4 || fields[1] != "(dnsmasq)" || fields[3] != strconv.Itoa(parent) {
			continue
		}
		pid, err := strconv.Atoi(fields[0])
		if err != nil {
			return err
		}
		if err := syscall.Kill(pid, signal); err != nil {
			return fmt.Errorf("signalling dnsmasq: %w", err)
		}
		signalled++
	}
	if signalled == 0 {
		return fmt.Errorf("the fabric runs no dnsmasq")
	}
	return nil
}

// ignorePings makes the gateway ignore echo requests ("1") or answer ("0").
func (b *bench) ignorePings(ctx context.Context, value string) error {
	pid, err := b.fabric(ctx)
	if err != nil {
		return err
	}
	const setting = "/proc/sys/net/ipv4/icmp_echo_ignore_all"
	out, err := exec.CommandContext(ctx, "nsenter", "--target", strconv.Itoa(pid), "--net", "sh", "-c", "echo "+value+" >"+setting).CombinedOutput()
	if err != nil {
		return fmt.Errorf("setting %s in the fabric: %w: %s", setting, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// signalHandler freezes ("STOP") or thaws ("CONT") the measured node's handler.
func (b *bench) signalHandler(ctx context.Context, signal string) error {
	pid, err := b.handlerPID(ctx)
	if err != nil {
		return err
	}
	_, err = b.one.Exec(ctx, "kill", "-"+signal, strconv.Itoa(pid))
	return err
}

// handlerPID is the handler's pid as its node sees it.
func (b *bench) handlerPID(ctx context.Context) (int, error) {
	units, err := b.one.Units(ctx)
	if err != nil {
		return 0, err
	}
	for _, u := range units {
		if u.Name == "handler" && u.PID != 0 {
			return u.PID, nil
		}
	}
	return 0, fmt.Errorf("no handler runs on %s", b.one.Name)
}

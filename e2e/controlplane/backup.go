package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// BackUp keeps what etcd holds now, for Restore. API server and etcd stop for that while.
func (c *ControlPlane) BackUp(ctx context.Context) error {
	return c.whileStopped(ctx, func() error { return c.replaceFolder(c.files.etcdBackup(), c.files.etcdData()) })
}

// Restore has etcd hold again what it held at BackUp. Whatever was written since is gone:
// objects are as they were, and their generations and resource versions count from there on
// a second time. Revisions are not bumped, as nobody does who copies a folder.
func (c *ControlPlane) Restore(ctx context.Context) error {
	if _, err := os.Stat(c.files.etcdBackup()); err != nil {
		return fmt.Errorf("there is no backup to restore: %w", err)
	}
	return c.whileStopped(ctx, func() error { return c.replaceFolder(c.files.etcdData(), c.files.etcdBackup()) })
}

func (c *ControlPlane) replaceFolder(to, from string) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return fmt.Errorf("copying etcd's data: %w", err)
	}
	return os.Chmod(to, 0o700) // Etcd wants it so.
}

func (c *ControlPlane) whileStopped(ctx context.Context, do func() error) error {
	if err := c.StopAPIServer(ctx); err != nil {
		return err
	}
	if err := c.whileEtcdIsStopped(ctx, do); err != nil {
		return err
	}
	return c.StartAPIServer(ctx)
}

func (c *ControlPlane) whileEtcdIsStopped(ctx context.Context, do func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.etcd == nil {
		return errors.New("the control plane is stopped")
	}
	c.etcd.signal(syscall.SIGTERM)
	select {
	case <-c.etcd.ended:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := do(); err != nil {
		return err
	}
	return c.startEtcd(ctx)
}

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// etcd and the API server run in the folder and use these names as they
	// are: the path of a socket may have only about 100 bytes, the path of a
	// test's folder often has more.
	etcdSocketName = "etcd.sock"
	etcdClientURL  = "unix://" + etcdSocketName
	etcdPeerURL    = "unix://etcd-peer.sock"

	etcdTimeout = 30 * time.Second
)

func (c *ControlPlane) startEtcd(ctx context.Context) error {
	socket := c.files.etcdSocket()
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	etcd, err := c.run(etcdProgram,
		"--name=default",
		"--data-dir="+c.files.etcdData(),
		"--listen-client-urls="+etcdClientURL,
		"--advertise-client-urls="+etcdClientURL,
		"--listen-peer-urls="+etcdPeerURL,
		"--initial-advertise-peer-urls="+etcdPeerURL,
		"--initial-cluster=default="+etcdPeerURL,
		"--unsafe-no-fsync",
		"--log-level=warn",
	)
	if err != nil {
		return err
	}
	c.etcd = etcd
	// kube-apiserver tries once a second: it had better find etcd listening.
	err = wait.PollUntilContextTimeout(ctx, 5*time.Millisecond, etcdTimeout, true, func(context.Context) (bool, error) {
		if !etcd.running() {
			return false, etcd.failure()
		}
		_, err := os.Stat(socket)
		return err == nil, nil
	})
	return notReady(etcd, etcdTimeout, err)
}

// notReady turns the end of a wait into an error that says which program did
// not become ready and what it said last.
func notReady(p *process, after time.Duration, err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s is not ready after %s; %s", p.name, after, p.tail())
	}
	return err
}

package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
)

const (
	// stopGrace is how long StopAPIServer lets requests end. Watches would
	// hold the API server for 60 s.
	stopGrace = time.Second
	readyPoll = 50 * time.Millisecond
	// readyRequestTimeout ends one question for readiness.
	readyRequestTimeout = 2 * time.Second
	// apiServerStarts is how often the API server is started at the most.
	apiServerStarts = 3
)

// StartAPIServer starts the API server again, at the same port and with the same
// certificates and tokens, and returns when it is ready. One that runs is left
// as it is.
func (c *ControlPlane) StartAPIServer(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.etcd == nil {
		return errors.New("the control plane is stopped")
	}
	if c.apiServer.running() {
		return nil
	}
	if err := waitUntilFree(ctx, c.port, true); err != nil {
		return err
	}
	if err := c.startUntilReady(ctx); err != nil {
		return err
	}
	if c.controllerManager != nil && !c.controllerManager.running() {
		return c.startControllerManager()
	}
	return nil
}

// startUntilReady starts the API server again where it ends in its own start hook:
// those have 30 seconds, which a machine with much else to do may need for less.
func (c *ControlPlane) startUntilReady(ctx context.Context) error {
	timeout := c.options.ReadyTimeout
	for attempt := 1; ; attempt++ {
		before := size(c.files.Log(apiServerProgram))
		server, err := c.launch(apiServerProgram, c.apiServerArguments()...)
		if err != nil {
			return err
		}
		c.apiServer = server
		if err = c.waitReady(ctx, server, timeout); err == nil {
			c.watch(server)
			return nil
		}
		if server.running() || attempt == apiServerStarts || !endedInHook(c.files.Log(apiServerProgram), before) {
			return notReady(server, timeout, err)
		}
		c.say("%s ended in its own start hook, as it may where much else runs: starting it again", apiServerProgram)
	}
}

// endedInHook tells whether the log says so, from an offset on.
func endedInHook(log string, from int64) bool {
	content, err := os.ReadFile(log)
	return err == nil && int64(len(content)) > from && bytes.Contains(content[from:], []byte("PostStartHook"))
}

func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// StopAPIServer asks the API server to end and kills it if it has not within a
// second. Its clients see it go away as in an upgrade.
func (c *ControlPlane) StopAPIServer(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	server := c.apiServer
	if !server.running() {
		return nil
	}
	server.signal(syscall.SIGTERM)
	grace, cancel := context.WithTimeout(ctx, stopGrace)
	defer cancel()
	select {
	case <-server.ended:
	case <-grace.Done():
	}
	server.kill()
	return ctx.Err()
}

// KillAPIServer ends the API server at once, as a crash does.
func (c *ControlPlane) KillAPIServer() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.apiServer.kill()
}

func (c *ControlPlane) apiServerArguments() []string {
	f := c.files
	arguments := []string{
		"--etcd-servers=" + etcdClientURL,
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(c.port),
		"--advertise-address=127.0.0.1",
		// There is no service network that could lead to this API server.
		"--endpoint-reconciler-type=none",
		"--tls-cert-file=" + f.servingCertificate(),
		"--tls-private-key-file=" + f.servingKey(),
		"--token-auth-file=" + f.tokens(),
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + f.serviceAccountKey(),
		"--service-account-signing-key-file=" + f.serviceAccountKey(),
		"--service-cluster-ip-range=10.96.0.0/16",
		"--allow-privileged=true",
		"--profiling=false",
		"--v=0",
	}
	if c.options.AuditLog != "" {
		arguments = append(arguments,
			"--audit-log-path="+c.options.AuditLog,
			"--audit-policy-file="+f.auditPolicy(),
			"--audit-log-mode=blocking",
		)
	}
	return arguments
}

func (c *ControlPlane) waitReady(ctx context.Context, server *process, timeout time.Duration) error {
	config, err := c.files.RESTConfig()
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	client.Timeout = readyRequestTimeout
	defer client.CloseIdleConnections()
	return wait.PollUntilContextTimeout(ctx, readyPoll, timeout, true, func(ctx context.Context) (bool, error) {
		if !server.running() {
			return false, server.failure()
		}
		return answersReady(ctx, client, config.Host), nil
	})
}

func answersReady(ctx context.Context, client *http.Client, host string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, host+"/readyz", nil)
	if err != nil {
		return false
	}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// writeAuditPolicy asks for the who, what and when of every request, once its
// answer has begun.
func (f Files) writeAuditPolicy() error {
	const policy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
`
	if err := os.WriteFile(f.auditPolicy(), []byte(policy), 0o644); err != nil {
		return fmt.Errorf("writing the audit policy: %w", err)
	}
	return nil
}

//go:build linux

package lab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// What the lab has of a kubelet is its worst habit. The handler is a pod of a
// DaemonSet, and after a boot a kubelet knows of no such pod until it has read
// its pods from the API server: it runs static pods only. A container that dies
// later is started again without anybody being asked. So the handler's unit has
// a gate that is shut at each boot of the node:
//
//	boot ──► held ──API server answers──► running ◄──a second later──┐
//	          ▲                             └────────it died─────────┘
//	          └── stays here for ever, if the node cannot reach it
//
// The node's own way to the API server is asked, through its emulated NICs. A
// lab without a control plane has nobody to ask, and starts the handler at once.

const (
	// apiTry bounds one question, apiPause is between two. A kubelet backs off to
	// half a minute; the lab is kinder in time only.
	apiTry   = 2 * time.Second
	apiPause = 200 * time.Millisecond
)

// apiServerAnswers returns nil if the API server in the kubeconfig says that it
// is ready, and nil if there is no kubeconfig: then there is no cluster.
func apiServerAnswers(ctx context.Context, kubeconfig string) error {
	if _, err := os.Stat(kubeconfig); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("reading the node's kubeconfig: %w", err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return fmt.Errorf("preparing the question to the API server: %w", err)
	}
	// Each question has a connection of its own: an old one may lead nowhere.
	defer client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, apiTry)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+"/readyz", nil)
	if err != nil {
		return fmt.Errorf("preparing the question to the API server: %w", err)
	}
	req.Close = true
	res, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("the API server has not answered since the boot: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the API server has not been ready since the boot: %s", res.Status)
	}
	return nil
}

// pass tells whether the unit's gate is open, after asking once if it is not. A
// gate that stays shut is asked again and again, and the unit is started once it
// opens, if somebody still wants it.
func (s *supervisor) pass(ctx context.Context, u *unit) bool {
	s.mu.Lock()
	u.wanted = true
	open, held := u.gate == nil || u.open, u.held
	s.mu.Unlock()
	switch {
	case open:
		return true
	case held:
		return false
	case s.askGate(ctx, u):
		return true
	}
	s.mu.Lock()
	u.held = true
	s.mu.Unlock()
	go s.await(ctx, u)
	return false
}

// askGate asks once, and notes the answer.
func (s *supervisor) askGate(ctx context.Context, u *unit) bool {
	err := u.gate(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		u.reason = err.Error()
		return false
	}
	u.open, u.held, u.reason = true, false, ""
	return true
}

func (s *supervisor) await(ctx context.Context, u *unit) {
	for !s.askGate(ctx, u) {
		select {
		case <-ctx.Done():
			return
		case <-s.clock.After(apiPause):
		}
	}
	s.mu.Lock()
	wanted := u.wanted
	s.mu.Unlock()
	if !wanted {
		return
	}
	if err := s.start(ctx, u.name); err != nil {
		fmt.Fprintf(os.Stderr, "starting %s: %v\n", u.name, err)
	}
}

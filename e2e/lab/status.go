//go:build linux

package lab

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"encoding/json"
)

// Status is what Lab.Status found.
type Status struct {
	Name       string       `json:"name"`
	NM         string       `json:"nm"` // 1.42, 1.52 or host
	Fabric     ProcStatus   `json:"fabric"`
	API        ProcStatus   `json:"apiServer"`
	Kubeconfig string       `json:"kubeconfig,omitempty"`
	Nodes      []NodeStatus `json:"nodes"`
}

// ProcStatus is one long-lived process of the lab.
type ProcStatus struct {
	Running bool   `json:"running"`
	PID     int    `json:"pid,omitempty"` // as the machine sees it
	Detail  string `json:"detail,omitempty"`
}

// NodeStatus is one node. Error says why the rest is not known.
type NodeStatus struct {
	Name      string       `json:"name"`
	NM        string       `json:"nm"` // 1.42, 1.52 or host
	PID       int          `json:"pid,omitempty"`
	Addresses []string     `json:"addresses,omitempty"`
	Units     []UnitStatus `json:"units,omitempty"`
	Error     string       `json:"error,omitempty"`
}

// Topology is what the lab was built from, with counts unfolded.
func (l *Lab) Topology() *Topology { return l.rec.Topology }

// Status tells what of the lab runs.
func (l *Lab) Status(ctx context.Context) Status {
	s := Status{Name: l.rec.Name, NM: l.rec.NM, Kubeconfig: l.rec.Kubeconfig}
	if p, err := findOne(roleFabric, l.fabricDir()); err == nil {
		s.Fabric = ProcStatus{Running: true, PID: p.pid}
	}
	switch p, err := findOne(roleControlPlane, l.controlPlaneDir()); {
	case err == nil:
		s.API = ProcStatus{Running: true, PID: p.pid, Detail: l.rec.APITarget}
	case l.rec.APITarget != "":
		s.API.Detail = l.rec.APITarget
	}
	for _, n := range l.Nodes() {
		s.Nodes = append(s.Nodes, n.status(ctx))
	}
	return s
}

func (n *Node) status(ctx context.Context) NodeStatus {
	s := NodeStatus{Name: n.Name, NM: n.nm()}
	p, err := n.process()
	if err != nil {
		s.Error = "not running"
		return s
	}
	s.PID = p.pid
	if s.Units, err = n.Units(ctx); err != nil {
		s.Error = err.Error()
	}
	if s.Addresses, err = n.Addresses(ctx); err != nil {
		s.Error = err.Error()
	}
	return s
}

// Addresses are the node's global addresses as "NIC ADDRESS/LENGTH", sorted.
func (n *Node) Addresses(ctx context.Context) ([]string, error) {
	p, err := n.process()
	if err != nil {
		return nil, err
	}
	var out []byte
	err = inside(p.pid, netOnly, func() error {
		var err error
		out, err = exec.CommandContext(ctx, "ip", "-json", "address", "show", "scope", "global").Output()
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the addresses of %s: %w", n.Name, err)
	}
	var links []struct {
		Name  string `json:"ifname"`
		Infos []struct {
			Local  string `json:"local"`
			Length int    `json:"prefixlen"`
		} `json:"addr_info"`
	}
	if text := strings.TrimSpace(string(out)); text != "" {
		if err := json.Unmarshal([]byte(text), &links); err != nil {
			return nil, fmt.Errorf("reading the addresses of %s: %w", n.Name, err)
		}
	}
	var all []string
	for _, l := range links {
		for _, a := range l.Infos {
			if a.Local != "" {
				all = append(all, fmt.Sprintf("%s %s/%d", l.Name, a.Local, a.Length))
			}
		}
	}
	slices.Sort(all)
	return all, nil
}

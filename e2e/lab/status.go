//go:build linux

package lab

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"encoding/json"
)

// Status is what Lab.Status found.
type Status struct {
	Name       string       `json:"name"`
	NM         string       `json:"nm"`           // 1.42, 1.52 or host
	VM         *ProcStatus  `json:"vm,omitempty"` // what the fabric and the nodes run in, if not in this machine
	Fabric     ProcStatus   `json:"fabric"`
	API        ProcStatus   `json:"apiServer"`
	Kubeconfig string       `json:"kubeconfig,omitempty"`
	Nodes      []NodeStatus `json:"nodes"`
}

// ProcStatus is one long-lived process of the lab.
type ProcStatus struct {
	Running bool   `json:"running"`
	PID     int    `json:"pid,omitempty"` // as the machine sees it that it runs on
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
	if p, err := findOne(roleVM, l.vmDir()); err == nil {
		s.VM = &ProcStatus{Running: true, PID: p.pid}
	} else if l.rec.VM != nil {
		s.VM = &ProcStatus{}
	}
	if pid, err := l.pid(ctx, roleFabric, l.fabricDir()); err == nil {
		s.Fabric = ProcStatus{Running: true, PID: pid}
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
	var err error
	if s.PID, err = n.PID(ctx); err != nil {
		s.Error = "not running"
		return s
	}
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
	res, err := n.lab.at.do(ctx, request{Verb: "addresses", Node: n.Name})
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
	if text := strings.TrimSpace(res.Text); text != "" {
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

//go:build linux

package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// Kernel is the node's links, addresses, routes and rules as text, one line for
// each object, sorted; what changes by itself (indexes, lifetimes, counters,
// timers) is left out. Equal texts mean an equal configuration: it is the oracle
// of "byte for byte as before".
func (n *Node) Kernel(ctx context.Context) (string, error) {
	p, err := n.process()
	if err != nil {
		return "", err
	}
	var lines []string
	err = inside(p.pid, netOnly, func() error {
		for _, q := range [][]string{
			{"link", "-details", "link", "show"},
			{"address", "address", "show"},
			{"route", "-4", "route", "show", "table", "all"},
			{"route6", "-6", "route", "show", "table", "all"},
			{"rule", "-4", "rule", "show"},
			{"rule6", "-6", "rule", "show"},
		} {
			found, err := kernelObjects(ctx, q[0], q[1:]...)
			if err != nil {
				return err
			}
			lines = append(lines, found...)
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("reading the kernel's state of %s: %w", n.Name, err)
	}
	return strings.Join(lines, "\n") + "\n", nil
}

// Settled is Kernel once no address is tentative any more, which after a change
// or a rollback takes a second or two.
func (n *Node) Settled(ctx context.Context) (string, error) {
	text := ""
	err := n.lab.until(ctx, "the addresses of "+n.Name+" to settle", func() (bool, error) {
		var err error
		text, err = n.Kernel(ctx)
		return err != nil || !strings.Contains(text, `"tentative":true`), err
	})
	return text, err
}

func kernelObjects(ctx context.Context, kind string, args ...string) ([]string, error) {
	out, err := exec.CommandContext(ctx, "ip", append([]string{"-json"}, args...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("ip %s: %w", strings.Join(args, " "), err)
	}
	return canonical(kind, out)
}

// canonical turns the JSON list of ip into sorted lines without what changes by
// itself.
func canonical(kind string, out []byte) ([]string, error) {
	if len(strings.TrimSpace(string(out))) == 0 {
		return nil, nil
	}
	var objects []map[string]any
	if err := json.Unmarshal(out, &objects); err != nil {
		return nil, fmt.Errorf("reading the answer of ip: %w", err)
	}
	var lines []string
	for _, o := range objects {
		text, err := json.Marshal(steady(o))
		if err != nil {
			return nil, fmt.Errorf("writing the answer of ip: %w", err)
		}
		if string(text) != "{}" {
			lines = append(lines, kind+" "+string(text))
		}
	}
	slices.Sort(lines)
	return lines, nil
}

// steady drops volatile keys at every depth and sorts lists, whose order ip does
// not promise.
func steady(v any) any {
	switch v := v.(type) {
	case map[string]any:
		kept := map[string]any{}
		for key, value := range v {
			if !volatile(key) {
				kept[key] = steady(value)
			}
		}
		return kept
	case []any:
		var texts []string
		for _, value := range v {
			text, err := json.Marshal(steady(value))
			if err == nil && string(text) != "{}" {
				texts = append(texts, string(text))
			}
		}
		slices.Sort(texts)
		var list []json.RawMessage
		for _, text := range texts {
			list = append(list, json.RawMessage(text))
		}
		return list
	}
	return v
}

func volatile(key string) bool {
	switch key {
	case "ifindex", "link_index", "link_netnsid", "stats", "stats64", "expires", "age", "users", "used", "error",
		"valid_life_time", "preferred_life_time", "num_tx_queues", "num_rx_queues",
		"cstamp", "tstamp", "topology_change", "topology_change_detected":
		return true
	}
	return strings.HasSuffix(key, "_timer")
}

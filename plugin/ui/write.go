package ui

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/nmstate/kubernetes-nmstate/plugin/lint"
	"github.com/nmstate/kubernetes-nmstate/plugin/view"
)

// form writes a policy.
type form struct {
	Fields   map[string]string
	Kinds    []string
	Modes    []string
	YAML     string
	Findings []string
	// File is what the commands call it.
	File string
	// Plan is what it would change; nil before there is a policy that a node understands.
	Plan *view.Plan
	// Of says of which nodes the plan is, where it is not of those that are meant.
	Of string
}

func formKinds() []string { return []string{"bond", "vlan", "linux-bridge", "ethernet"} }

func bondModes() []string {
	return []string{"active-backup", "802.3ad", "balance-rr", "balance-xor", "balance-tlb", "balance-alb", "broadcast"}
}

// write fills the form in, and writes the policy's YAML once there is a name. It asks the
// same parser as kubectl nmstate lint, plans it from what the nodes report, and changes nothing.
func (h *Handler) write(ctx context.Context, r *http.Request) (string, any, error) {
	f := form{Fields: map[string]string{"kind": "bond", "mode": "active-backup"}, Kinds: formKinds(), Modes: bondModes()}
	query := r.URL.Query()
	for _, field := range []string{"policy", "kind", "name", "ports", "mode", "base", "id", "address", "dhcp", "mtu", "label"} {
		if query.Has(field) {
			f.Fields[field] = strings.TrimSpace(query.Get(field))
		}
	}
	if f.Fields["policy"] == "" {
		return "Write a policy", f, nil
	}
	f.File = f.Fields["policy"] + ".yaml"
	document, wrong := documentOf(query)
	if wrong != nil {
		f.Findings = append(f.Findings, wrong.Error())
		return "Write a policy", f, nil
	}
	text, err := yaml.Marshal(document)
	if err != nil {
		return "", nil, fmt.Errorf("writing the policy: %w", err)
	}
	f.YAML = string(text)
	for _, finding := range lint.Text(text).Findings {
		f.Findings = append(f.Findings, finding.String())
	}
	if len(f.Findings) > 0 {
		return "Write a policy", f, nil
	}
	err = h.preview(ctx, &f, document)
	return "Write a policy", f, err
}

// documentOf is the policy that the form asks for.
func documentOf(query url.Values) (map[string]any, error) {
	get := func(field string) string { return strings.TrimSpace(query.Get(field)) }
	one := map[string]any{"name": get("name"), "type": get("kind"), "state": "up"}
	if one["name"] == "" {
		return nil, fmt.Errorf("which interface? The form has no name of one")
	}
	ports := strings.FieldsFunc(get("ports"), func(r rune) bool { return r == ',' || r == ' ' })
	switch get("kind") {
	case "bond":
		one["link-aggregation"] = map[string]any{"mode": get("mode"), "port": ports}
	case "linux-bridge":
		var listed []any
		for _, port := range ports {
			listed = append(listed, map[string]any{"name": port})
		}
		one["bridge"] = map[string]any{"options": map[string]any{"stp": map[string]any{"enabled": false}}, "port": listed}
	case "vlan":
		id, err := strconv.ParseInt(get("id"), 10, 32)
		if err != nil {
			return nil, fmt.Errorf("the VLAN's id: %q is no number", get("id"))
		}
		one["vlan"] = map[string]any{"base-iface": get("base"), "id": id}
	}
	if get("mtu") != "" {
		mtu, err := strconv.ParseInt(get("mtu"), 10, 32)
		if err != nil {
			return nil, fmt.Errorf("the MTU: %q is no number", get("mtu"))
		}
		one["mtu"] = mtu
	}
	if err := addressOf(one, get("address"), get("dhcp") != ""); err != nil {
		return nil, err
	}
	spec := map[string]any{"desiredState": map[string]any{"interfaces": []any{one}}}
	if key, value, is := strings.Cut(get("label"), "="); is {
		spec["nodeSelector"] = map[string]any{strings.TrimSpace(key): strings.TrimSpace(value)}
	} else if key != "" {
		spec["nodeSelector"] = map[string]any{key: ""}
	}
	return map[string]any{
		"apiVersion": "nmstate.io/v1", "kind": "NodeNetworkConfigurationPolicy",
		"metadata": map[string]any{"name": get("policy")}, "spec": spec,
	}, nil
}

func addressOf(one map[string]any, written string, dhcp bool) error {
	switch {
	case written == "" && !dhcp:
		return nil
	case written == "":
		one["ipv4"] = map[string]any{"enabled": true, "dhcp": true}
		return nil
	}
	prefix, err := netip.ParsePrefix(written)
	if err != nil {
		return fmt.Errorf("the address: %q is none, such as 192.0.2.11/24", written)
	}
	family := "ipv4"
	if prefix.Addr().Is6() {
		family = "ipv6"
	}
	one[family] = map[string]any{"enabled": true, "dhcp": false, "address": []any{map[string]any{"ip": prefix.Addr().String(), "prefix-length": prefix.Bits()}}}
	return nil
}

package swarm

import (
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// draft is a policy's spec, and what it is about.
type draft struct {
	what string
	spec v1.NodeNetworkConfigurationPolicySpec
	// asks for a person's confirmation.
	asks bool
}

// draft draws a spec for the subject: mostly a good one.
func (p *people) draft(s subject) draft {
	d := draft{what: s.what}
	var document tree
	matched := 10
	if p.cluster.hasLate() {
		matched = 40
	}
	switch {
	case chance(p.r, 20):
		bad := pick(p.r, mistakes()...)
		document, d.what = bad.state(p.r), "bad: "+bad.what
	case chance(p.r, matched):
		document, d.what = p.matched(&d), "matched NICs"
	case chance(p.r, 6):
		p.neighbours(&d)
	case chance(p.r, 8):
		document, d.what = absent(s.state(p.r)), "no "+s.what
	default:
		document = s.state(p.r)
		if s.node {
			p.variables(&d)
		}
	}
	if document != nil {
		raw, err := json.Marshal(document)
		if err != nil {
			panic(err) // It is a literal of this package.
		}
		d.spec.DesiredState = v1.NewState(raw)
	}
	p.place(&d)
	p.careful(&d)
	p.guarded(&d)
	return d
}

// absent takes away what a state would make; NICs go down.
func absent(state tree) tree {
	var gone items
	list, _ := state["interfaces"].(items)
	for _, one := range list {
		l := one.(tree)
		switch name := l["name"].(string); {
		case name == "eth0":
		case strings.HasPrefix(name, "eth") && !strings.Contains(name, "."):
			gone = append(gone, tree{"name": name, "type": l["type"], "state": "down"})
		default:
			gone = append(gone, tree{"name": name, "type": l["type"], "state": "absent"})
		}
	}
	if len(gone) == 0 {
		return interfaces(tree{"name": "dummy0", "type": "dummy", "state": "absent"})
	}
	return tree{"interfaces": gone}
}

// matched selects interfaces by rules, and has the MTU from a label.
func (p *people) matched(d *draft) tree {
	rule := pick(p.r, v1.InterfaceRule{Name: "eth[12]"}, v1.InterfaceRule{Name: "eth2", Type: "ethernet"}, v1.InterfaceRule{Type: "dummy"})
	d.spec.Match = []v1.InterfaceRule{rule}
	kind := "ethernet"
	if rule.Type != "" {
		kind = rule.Type
	}
	variable := v1.Variable{FromLabel: mtuLabel}
	if chance(p.r, 70) {
		fallback := "1450"
		variable.Default = &fallback
	}
	d.spec.Variables = map[string]v1.Variable{"mtu": variable}
	return tree{"interfaces": items{tree{"type": kind, "state": "up", "mtu": "{{ var.mtu }}"}}}
}

// neighbours makes bonds and VLANs of what the switch announces.
func (p *people) neighbours(d *draft) {
	d.what = "made from LLDP"
	rule := v1.InterfaceRule{Name: "eth[12]"}
	if chance(p.r, 50) {
		rule.LLDP = &v1.LLDPRule{SystemName: pick(p.r, "tor*", "tor9"), VLANIDs: []int32{100}}
	}
	d.spec.Match = []v1.InterfaceRule{rule}
	d.spec.AutoConfig = &v1.AutoConfig{}
	if chance(p.r, 60) {
		d.spec.AutoConfig.Bonding = &v1.AutoBonding{Mode: "active-backup", NamePrefix: "bond"}
	}
	if d.spec.AutoConfig.Bonding == nil || chance(p.r, 40) {
		d.spec.AutoConfig.VLAN = &v1.AutoVLAN{}
	}
}

// variables give each node its own address.
func (p *people) variables(d *draft) {
	addresses, numbers := map[string]string{}, map[string]string{}
	for _, n := range slices.Concat(p.cluster.Nodes, p.cluster.Spare) {
		addresses[n.Name] = n.Address
		numbers[n.Name] = n.Address[strings.LastIndexByte(n.Address, '.')+1:]
	}
	if d.spec.Variables == nil {
		d.spec.Variables = map[string]v1.Variable{}
	}
	d.spec.Variables["address"] = v1.Variable{Values: addresses}
	d.spec.Variables["number"] = v1.Variable{Values: numbers}
}

// place says where it goes, in which order and how many at once.
func (p *people) place(d *draft) {
	r := p.r
	switch n := r.IntN(10); {
	case n < 3:
		d.spec.NodeSelector = map[string]string{zoneLabel: pick(r, "a", "b")}
	case n < 5:
		d.spec.NodeSelector = map[string]string{"kubernetes.io/hostname": p.node()}
	}
	p.choosy(d)
	most := pick(r, intstr.FromString("50%"), intstr.FromString("50%"), intstr.FromInt32(1), intstr.FromInt32(2), intstr.FromString("100%"))
	d.spec.MaxUnavailable = &most
	if chance(r, 20) {
		d.spec.Priority = int32(r.IntN(3)) * 10
	}
	if chance(r, 15) {
		canary := int32(1 + r.IntN(2))
		d.spec.Rollout = &v1.Rollout{Canary: &canary, PauseAfterCanary: chance(r, 20), SoakSeconds: int32(r.IntN(3)) * 30}
	} else if chance(r, 5) {
		d.spec.Rollout = &v1.Rollout{Paused: true}
	}
}

// choosy narrows the nodes by their taints and by an affinity, which may be one
// that nobody can read.
func (p *people) choosy(d *draft) {
	r := p.r
	if chance(r, 20) {
		d.spec.Tolerations = []corev1.Toleration{{Key: pick(r, taintKey, "example.com/other"), Operator: corev1.TolerationOpExists}}
	}
	if !chance(r, 8) {
		return
	}
	term := corev1.NodeSelectorRequirement{Key: zoneLabel, Operator: corev1.NodeSelectorOpIn, Values: []string{"a", "b"}}
	if chance(r, 25) {
		term = corev1.NodeSelectorRequirement{Key: zoneLabel, Operator: corev1.NodeSelectorOpGt, Values: []string{"many"}}
		d.what += ", with an affinity that makes no sense"
	}
	d.spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{term}}},
	}}}
}

// careful says what happens before, after and in the end.
func (p *people) careful(d *draft) {
	r := p.r
	switch {
	case chance(r, 8):
		d.spec.Mode, d.what = "Plan", d.what+", planned"
	case chance(r, 4):
		d.spec.PlanHashes = []string{"0123456789abcdef"}
		d.what += ", pinned"
	}
	if chance(r, 40) {
		d.spec.OnDelete = v1.OnDeleteRevert
	}
	if chance(r, 25) {
		d.spec.Drift = "Report"
	}
}

// guarded draws probes.
func (p *people) guarded(d *draft) {
	r := p.r
	if chance(r, 70) {
		seconds := pick[int32](r, 10, 30, 60, 120)
		d.spec.ProbeTimeoutSeconds = &seconds
	}
	if !chance(r, 30) {
		return
	}
	switch r.IntN(6) {
	case 0:
		d.spec.Probes = []v1.Probe{{Type: v1.ProbePing, Target: "192.0.2.1"}}
	case 1:
		d.spec.Probes = []v1.Probe{{Type: v1.ProbeTCP, Target: "192.0.2.1:8080"}}
	case 2:
		d.spec.Probes = []v1.Probe{{Type: v1.ProbeHTTP, Target: "http://192.0.2.1:8080/"}}
	case 3:
		d.spec.Probes = []v1.Probe{{Type: v1.ProbeDNS, Target: "root-servers.net"}}
	case 4:
		d.what += ", with a probe that is lost"
		d.spec.Probes = []v1.Probe{{Type: v1.ProbeTCP, Target: "192.0.2.1:81"}}
	case 5:
		seconds := pick[int32](r, 30, 120, 300)
		d.spec.Probes = []v1.Probe{{Type: v1.ProbeConfirm, TimeoutSeconds: &seconds}}
		d.what += ", to be confirmed"
		d.asks = true
	}
	if chance(r, 15) {
		d.spec.DefaultProbes = v1.DefaultProbesDrop
	}
}

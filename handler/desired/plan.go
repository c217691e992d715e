package desired

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Bounds of a plan's parts, since it is stored: lines of changes, and the
// bytes of each.
const (
	maxPlanLines = 200
	maxPlanLine  = 300
	// Of all interfaces together.
	maxLinesInAll        = 300
	maxPlannedInterfaces = 200
)

// planHashBytes make a hash that a person can compare by eye.
const planHashBytes = 8

// Plan is what a policy's rendering would change on a node: target is what the
// node's policies come to with it, current the node's state as reported, undone what
// goes back to what was before the policy. The hash is that of the rendering
// and of the changes: it does not depend on the node's name or the policy's
// generation.
func Plan(rendered, target, current state.State, undone Undone) v1.EnactmentPlan {
	p := planner{worst: v1.DisruptionNone, target: target, current: current, risky: carriers(current), at: map[string]*v1.PlannedInterface{}}
	for _, d := range state.Missing(rendered, current) {
		p.difference(d)
	}
	for _, one := range rendered.Interfaces() {
		want := one
		if whole, said := target.Interface(one.Name); said {
			want = whole
		}
		p.lostAddresses(one, want)
		p.newPorts(one)
	}
	p.putBack(undone)
	return p.plan(rendered)
}

// planner collects what changes.
type planner struct {
	target, current state.State
	// risky are the interfaces on which a default route depends, and how.
	risky map[string]string

	at    map[string]*v1.PlannedInterface
	other []string
	// worst of what is no interface's.
	worst v1.Disruption
}

func (p *planner) plan(rendered state.State) v1.EnactmentPlan {
	plan := v1.EnactmentPlan{Disruption: v1.DisruptionNone}
	for _, name := range sortedKeys(p.at) {
		planned := *p.at[name]
		if why := p.risky[name]; why != "" && planned.Disruption.Severity() > v1.DisruptionReapply.Severity() {
			planned.Disruption, planned.Reason = v1.DisruptionConnectivityRisk, why+", and "+planned.Reason
		}
		plan.Disruption = worse(plan.Disruption, planned.Disruption)
		planned.Changes = bounded(planned.Changes)
		plan.Interfaces = append(plan.Interfaces, planned)
	}
	plan.Disruption = worse(plan.Disruption, p.worst)
	plan.Changes = bounded(p.other)
	plan.Hash = planHash(rendered, plan)
	return inAll(plan)
}

// inAll bounds a plan of many interfaces. Its hash is that of all.
func inAll(plan v1.EnactmentPlan) v1.EnactmentPlan {
	left := maxLinesInAll
	for i := range plan.Interfaces {
		one := &plan.Interfaces[i]
		one.Reason = oneLine(one.Reason, maxMessage-maxPlanLine)
		if lines := len(one.Changes); lines > left {
			one.Changes = []string{fmt.Sprintf("%d changes", lines)}
		} else {
			left -= lines
		}
	}
	if more := len(plan.Interfaces) - maxPlannedInterfaces; more > 0 {
		plan.Interfaces = plan.Interfaces[:maxPlannedInterfaces]
		plan.Changes = append(plan.Changes, fmt.Sprintf("and %d more interfaces", more))
	}
	return plan
}

func planHash(rendered state.State, plan v1.EnactmentPlan) string {
	raw, err := json.Marshal(plan)
	if err != nil { // Strings only.
		panic(fmt.Sprintf("marshalling a plan: %v", err))
	}
	sum := sha256.Sum256(slices.Concat(rendered.JSON(), []byte{'\n'}, raw))
	return hex.EncodeToString(sum[:planHashBytes])
}

// bounded cuts what would not fit into an object.
func bounded(lines []string) []string {
	most := min(len(lines), maxPlanLines)
	kept := make([]string, 0, most)
	for _, line := range lines[:most] {
		kept = append(kept, oneLine(line, maxMessage-maxPlanLine))
	}
	if left := len(lines) - most; left > 0 {
		kept = append(kept, fmt.Sprintf("and %d more", left))
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

// difference files one difference under its interface.
func (p *planner) difference(d state.Difference) {
	if d.Path.Section != "interfaces" {
		p.elsewhere(d)
		return
	}
	name := d.Path.Interface
	class, reason := p.classOf(name, d.Path.Leaf, d)
	p.note(name, class, reason, changeLine(d.Path.Rest(), d.Got, d.Want))
}

// note adds a change of an interface; the worst class gives the reason.
func (p *planner) note(name string, class v1.Disruption, reason, line string) {
	planned := p.at[name]
	if planned == nil {
		planned = &v1.PlannedInterface{Name: name, Disruption: v1.DisruptionNone}
		p.at[name] = planned
	}
	if class.Severity() > planned.Disruption.Severity() {
		planned.Disruption, planned.Reason = class, reason
	}
	if line != "" && !slices.Contains(planned.Changes, line) {
		planned.Changes = append(planned.Changes, line)
	}
}

// elsewhere is a change of routes, rules, name servers and the like. A change
// of a default route is a risk for what goes over its interface.
func (p *planner) elsewhere(d state.Difference) {
	p.other = append(p.other, changeLine(d.Path.String(), d.Got, d.Want))
	p.worst = worse(p.worst, v1.DisruptionReapply)
	if d.Path.Section != "routes" || !leadsEverywhere(d.Want) && !leadsEverywhere(d.Got) {
		return
	}
	p.worst = worse(p.worst, v1.DisruptionConnectivityRisk)
	if name := d.Path.Interface; name != "" {
		p.note(name, v1.DisruptionConnectivityRisk, "a default route over it changes", "")
	}
}

func leadsEverywhere(route string) bool {
	return strings.HasPrefix(route, "0.0.0.0/0") || strings.HasPrefix(route, "::/0")
}

// lostAddresses are those that the interface has and shall not keep, want being all that
// is said of it: nmstate replaces the addresses of a family of which the document lists any.
func (p *planner) lostAddresses(rendered, want state.Interface) {
	is, there := p.current.Interface(rendered.Name)
	if !there {
		return
	}
	if how := rendered.State; rendered.IsAbsent() || how == "down" {
		if p.at[rendered.Name] == nil && is.State == "up" {
			p.note(rendered.Name, v1.DisruptionAddressLoss, "its configuration goes", changeLine("state", is.State, how))
		}
		return
	}
	for _, family := range []state.Family{state.IPv4, state.IPv6} {
		keeps := want.Addresses(family)
		if !p.replaces(rendered, is, family) {
			continue
		}
		for _, address := range is.Addresses(family) {
			if !slices.Contains(keeps, address) && !strings.HasPrefix(address, "fe80:") {
				p.note(rendered.Name, v1.DisruptionAddressLoss, "it loses "+address, changeLine(string(family)+".address", address, ""))
			}
		}
	}
}

// replaces tells whether the addresses that the document does not list go.
func (p *planner) replaces(want, is state.Interface, family state.Family) bool {
	if enabled, said := want.Enabled(family); said && !enabled {
		return true
	}
	ip, _ := want.Tree()[string(family)].(map[string]any)
	_, lists := ip["address"]
	if want.Dynamic(family) {
		return lists && !is.Dynamic(family)
	}
	leaves := ip["dhcp"] != nil || ip["autoconf"] != nil
	return lists || leaves && is.Dynamic(family)
}

// newPorts are the interfaces that become ports of this one: their own entry
// need not say so.
func (p *planner) newPorts(controller state.Interface) {
	if !controller.SaysPorts() || controller.IsAbsent() {
		return
	}
	is, _ := p.current.Interface(controller.Name)
	had := is.Ports()
	for _, port := range controller.Ports() {
		if !slices.Contains(had, port) && !p.says(port, "controller: ") {
			p.becomesPort(port, controller.Name)
		}
	}
}

// says tells whether a change of the interface begins like this.
func (p *planner) says(name, beginning string) bool {
	planned := p.at[name]
	return planned != nil && slices.ContainsFunc(planned.Changes, func(line string) bool { return strings.HasPrefix(line, beginning) })
}

func (p *planner) becomesPort(name, controller string) {
	class, reason := p.classOf(name, "controller", state.Difference{Want: controller})
	p.note(name, class, reason, changeLine("controller", "", controller))
}

// changeLine is a change as a person reads it.
func changeLine(leaf, now, then string) string {
	switch {
	case leaf == "" && then != "":
		return "is made"
	case leaf == "":
		return "is removed"
	case now == "":
		return leaf + ": -> " + then
	case then == "":
		return leaf + ": " + now + " ->"
	}
	return leaf + ": " + now + " -> " + then
}

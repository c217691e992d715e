package state

import (
	"fmt"
	"strings"
)

// MainTable is the routing table meant where a document names none, or 0.
const MainTable = 254

// Route is one route of a document in normal form.
type Route struct {
	Destination      string // A prefix, "0.0.0.0/0" for the default.
	NextHopInterface string
	NextHopAddress   string // Empty: on the link.
	TableID          int64  // MainTable where the document says none.
	VRF              string
	Metric           int64
	HasMetric        bool // Without one, NetworkManager chooses.
	Absent           bool // A filter: every route that matches must go.

	tree map[string]any
}

// Tree is a deep copy of everything the document says about the route.
func (r Route) Tree() map[string]any { return copiedObject(r.tree) }

// IsDefault tells whether the route leads everywhere.
func (r Route) IsDefault() bool {
	return r.Destination == "0.0.0.0/0" || r.Destination == "::/0"
}

// IsIPv6 tells the route's family.
func (r Route) IsIPv6() bool {
	return strings.Contains(r.Destination, ":") || strings.Contains(r.NextHopAddress, ":")
}

// String says the route the way ip-route does.
func (r Route) String() string {
	line := r.Destination
	if line == "" {
		line = "any route"
	}
	if r.NextHopAddress != "" {
		line += " via " + r.NextHopAddress
	}
	if r.NextHopInterface != "" {
		line += " dev " + r.NextHopInterface
	}
	if r.VRF != "" {
		line += " vrf " + r.VRF
	} else if r.TableID != MainTable {
		line += fmt.Sprintf(" table %d", r.TableID)
	}
	if r.HasMetric {
		line += fmt.Sprintf(" metric %d", r.Metric)
	}
	return line
}

// Routes are the configured routes, absent ones included.
func (s State) Routes() []Route { return routesOf(object(s.tree["routes"])["config"]) }

// RunningRoutes are all routes of the node, whoever made them.
func (s State) RunningRoutes() []Route { return routesOf(object(s.tree["routes"])["running"]) }

func routesOf(value any) []Route {
	var found []Route
	for _, tree := range objects(value) {
		found = append(found, routeOf(tree))
	}
	return found
}

func routeOf(tree map[string]any) Route {
	route := Route{
		Destination:      normalPrefix(text(tree["destination"])),
		NextHopInterface: text(tree["next-hop-interface"]),
		NextHopAddress:   normalIP(text(tree["next-hop-address"])),
		VRF:              text(tree["vrf-name"]),
		Absent:           strings.EqualFold(text(tree["state"]), "absent"),
		TableID:          MainTable,
		tree:             tree,
	}
	if id, ok := integer(tree["table-id"]); ok && id != 0 {
		route.TableID = id
	}
	// nmstate takes -1 for "NetworkManager chooses".
	if metric, ok := integer(tree["metric"]); ok && metric >= 0 {
		route.Metric, route.HasMetric = metric, true
	}
	// An unspecified gateway is how nmstate writes a route on the link.
	if route.NextHopAddress == "0.0.0.0" || route.NextHopAddress == "::" {
		route.NextHopAddress = ""
	}
	return route
}

// RouteRule is one policy routing rule.
type RouteRule struct {
	From, To    string // Prefixes in normal form; empty for all.
	TableID     int64
	Priority    int64
	HasPriority bool
	Interface   string // The rule's incoming interface (iif).
	VRF         string
	Absent      bool

	tree map[string]any
}

// Tree is a deep copy of everything the document says about the rule.
func (r RouteRule) Tree() map[string]any { return copiedObject(r.tree) }

// RouteRules are the configured policy routing rules, absent ones included.
func (s State) RouteRules() []RouteRule {
	var found []RouteRule
	for _, tree := range objects(object(s.tree["route-rules"])["config"]) {
		found = append(found, ruleOf(tree))
	}
	return found
}

func ruleOf(tree map[string]any) RouteRule {
	rule := RouteRule{
		From:      normalPrefix(text(tree["ip-from"])),
		To:        normalPrefix(text(tree["ip-to"])),
		Interface: text(tree["iif"]),
		VRF:       text(tree["vrf-name"]),
		Absent:    strings.EqualFold(text(tree["state"]), "absent"),
		TableID:   MainTable,
		tree:      tree,
	}
	if id, ok := integer(tree["route-table"]); ok && id != 0 {
		rule.TableID = id
	}
	if priority, ok := integer(tree["priority"]); ok && priority >= 0 {
		rule.Priority, rule.HasPriority = priority, true
	}
	return rule
}

// DNS is a resolver configuration.
type DNS struct {
	Servers []string // In order of preference.
	Search  []string
	Options []string
}

// DNS is the configured resolver.
func (s State) DNS() DNS { return dnsOf(object(s.tree["dns-resolver"])["config"]) }

// RunningDNS is what the node resolves with, whoever configured it.
func (s State) RunningDNS() DNS { return dnsOf(object(s.tree["dns-resolver"])["running"]) }

// RunningDNSServers are the name servers that the node uses.
func (s State) RunningDNSServers() []string { return s.RunningDNS().Servers }

func dnsOf(value any) DNS {
	tree := object(value)
	return DNS{
		Servers: texts(tree["server"]),
		Search:  texts(tree["search"]),
		Options: texts(tree["options"]),
	}
}

// String says the rule the way ip-rule does.
func (r RouteRule) String() string {
	line := "rule"
	if r.HasPriority {
		line = fmt.Sprintf("rule %d:", r.Priority)
	}
	if r.From != "" {
		line += " from " + r.From
	}
	if r.To != "" {
		line += " to " + r.To
	}
	if r.Interface != "" {
		line += " iif " + r.Interface
	}
	if action := text(r.tree["action"]); action != "" {
		return line + " " + action
	}
	return line + fmt.Sprintf(" lookup %d", r.TableID)
}

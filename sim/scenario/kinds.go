package scenario

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// kind is what a word of a usage in capitals may be.
type kind struct {
	quoted  bool
	accepts func(p *parser, said string) error
}

// kinds are all of them; a usage names no others, which a test holds.
var kinds = map[string]kind{
	"TEXT":       {quoted: true},
	"FILE":       {accepts: (*parser).file},
	"NODE":       {accepts: (*parser).node},
	"NODES":      {accepts: (*parser).nodes},
	"ENACTMENT":  {accepts: (*parser).enactment},
	"NAME":       {accepts: shaped("a name", `[a-z0-9][a-z0-9.-]*`)},
	"NIC":        {accepts: shaped("a name of a NIC", `[a-z][a-z0-9.]*`)},
	"SWITCH":     {accepts: shaped("a name of a switch", `[a-z][a-z0-9]*`)},
	"FEATURE":    {accepts: shaped("a feature", `[a-z][a-z0-9-]*`)},
	"TOPOLOGY":   {accepts: shaped("a name of a topology", `[a-z][a-z0-9-]*`)},
	"DISRUPTION": {accepts: shaped("a class of disruption", `[A-Z][A-Za-z]*`)},
	"REASON":     {accepts: shaped("a reason", `[A-Z][A-Za-z]*`)},
	"CONDITION":  {accepts: shaped("a condition's type", `[A-Z][A-Za-z]*`)},
	"RESULT":     {accepts: shaped("a result", `[A-Z][A-Za-z]*`)},
	"LABEL":      {accepts: shaped("KEY=VALUE, or KEY- to take it away", `[a-zA-Z0-9./-]+(=[^ ]*|-)`)},
	"TAINT":      {accepts: shaped("KEY=VALUE:EFFECT, or KEY- to take it away", `[a-zA-Z0-9./-]+(=[^ ]*:[A-Za-z]+|-)`)},
	"SETTING":    {accepts: shaped("dns, ra, lacp or one of gateway=, gateway6=, dhcp=FROM-TO, chassis=, system=, vlans=", `dns|ra|lacp|(gateway|gateway6|dhcp|chassis|system|vlans)=[^ ]+`)},
	"COUNT":      {accepts: count},
	"DURATION":   {accepts: duration},
	"HOST":       {accepts: shaped("an IP address", `[0-9a-f.:]+`)},
	"RANGE":      {accepts: shaped("a range of addresses, FROM-TO", `[0-9.]+-[0-9.]+`)},
	"STEP":       {accepts: step},
	"ADDRESS":    {accepts: address},
	"ADDRESS6":   {accepts: shaped("auto or an IPv6 address with prefix length", `auto|[0-9a-f:]+/[0-9]+`)},
	"PHASE":      {accepts: phase},
	"POLICYROW":  {accepts: rowOf(policyRows)},
	"ROW":        {accepts: rowOf(enactmentRows)},
	"NEWMARK":    {accepts: (*parser).newMark},
	"MARK":       {accepts: (*parser).mark},
}

func shaped(what, pattern string) func(*parser, string) error {
	re := regexp.MustCompile(`^(` + pattern + `)$`)
	return func(_ *parser, said string) error {
		if !re.MatchString(said) {
			return fmt.Errorf("%q is not %s", said, what)
		}
		return nil
	}
}

func count(_ *parser, said string) error {
	if n, err := strconv.Atoi(said); err != nil || n < 0 || n > 10000 {
		return fmt.Errorf("%q is no number from 0 to 10000", said)
	}
	return nil
}

func duration(_ *parser, said string) error {
	if d, err := time.ParseDuration(said); err != nil || d <= 0 || d > 30*24*time.Hour {
		return fmt.Errorf("%q is no duration such as 30s or 10m", said)
	}
	return nil
}

func step(_ *parser, said string) error {
	if d, err := time.ParseDuration(said); err != nil || d == 0 {
		return fmt.Errorf("%q is no step such as 2h or -5m", said)
	}
	return nil
}

func address(_ *parser, said string) error {
	if said == "dhcp" || said == "none" {
		return nil
	}
	if _, err := netip.ParsePrefix(said); err != nil {
		return fmt.Errorf("%q is no address with prefix length, nor dhcp or none", said)
	}
	return nil
}

func phase(_ *parser, said string) error {
	all := []string{
		string(txn.Baseline), string(txn.Arming), string(txn.Applying), string(txn.Probing),
		string(txn.Committing), string(txn.RollingBack), string(txn.Settling), string(txn.Idle),
	}
	if !slices.Contains(all, said) {
		return fmt.Errorf("%q is no phase of a transaction (%s)", said, strings.Join(all, ", "))
	}
	return nil
}

func rowOf(rows map[string]row) func(*parser, string) error {
	return func(_ *parser, said string) error {
		if _, ok := rows[said]; !ok {
			return fmt.Errorf("%q is no row of the table of conditions (%s)", said, strings.Join(names(rows), ", "))
		}
		return nil
	}
}

func (p *parser) file(said string) error {
	if _, ok := p.scenario.Files[said]; !ok {
		return fmt.Errorf("there is no file %q", said)
	}
	p.named[said] = true
	return nil
}

func (p *parser) node(said string) error {
	if !slices.Contains(p.scenario.Topology.names(), said) {
		return fmt.Errorf("there is no node %q (there are: %s)", said, strings.Join(p.scenario.Topology.names(), ", "))
	}
	return nil
}

// every stands for each node.
const every = "nodes"

func (p *parser) nodes(said string) error {
	if said == every {
		return nil
	}
	return p.node(said)
}

func (p *parser) enactment(said string) error {
	node, policy, dot := strings.Cut(said, ".")
	if !dot || policy == "" {
		return fmt.Errorf("%q is no enactment: NODE.POLICY, or nodes.POLICY for those of all nodes", said)
	}
	return p.nodes(node)
}

func (p *parser) newMark(said string) error {
	if p.marks[said] {
		return fmt.Errorf("there is a mark %q already", said)
	}
	p.marks[said] = true
	return nil
}

func (p *parser) mark(said string) error {
	if !p.marks[said] {
		return fmt.Errorf("there is no mark %q before this line", said)
	}
	return nil
}

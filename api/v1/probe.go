package v1

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
)

const (
	// maxProbeTarget is the schema's limit, which a template may lead beyond.
	maxProbeTarget = 512
	// maxHostName and maxHostLabel are the limits of RFC 1035, section 2.3.4.
	maxHostName  = 253
	maxHostLabel = 63
)

// DefaultProbesDrop is the value of spec.defaultProbes with which only the
// probes that are listed guard a change.
const DefaultProbesDrop = "Drop"

// Name is what a probe is called where guards are listed: its type and target,
// such as "ping 192.0.2.1", or "confirm".
func (p Probe) Name() string {
	if p.Target == "" {
		return string(p.Type)
	}
	return string(p.Type) + " " + p.Target
}

// ParseProbe is the opposite of Name. The error says what is wrong with the
// type or the target.
func ParseProbe(name string) (Probe, error) {
	kind, target, _ := strings.Cut(name, " ")
	p := Probe{Type: ProbeType(kind), Target: target}
	return p, p.check()
}

// CheckProbes finds the first probe that cannot be run: its target is not what
// its type needs, or it is listed twice. The path, such as "spec.probes", is
// where the list stands. Templates must have been filled in.
func CheckProbes(path string, probes []Probe) error {
	first := map[string]int{}
	for i, p := range probes {
		if err := p.check(); err != nil {
			return fmt.Errorf("%s[%d].target: %q: %w", path, i, short(p.Target), err)
		}
		if j, twice := first[p.Name()]; twice {
			return fmt.Errorf("%s[%d]: %s is listed already, at %s[%d]; remove one of them", path, i, p.Name(), path, j)
		}
		first[p.Name()] = i
	}
	return nil
}

func (p Probe) check() error {
	if len(p.Target) > maxProbeTarget {
		return fmt.Errorf("want at most %d bytes", maxProbeTarget)
	}
	if strings.ContainsFunc(p.Target, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
		return errors.New("want no spaces or control characters")
	}
	switch p.Type {
	case ProbePing:
		return checkHost(p.Target)
	case ProbeDNS:
		if !isHostName(p.Target) {
			return errors.New("want a host name")
		}
		return nil
	case ProbeTCP:
		_, _, err := SplitTarget(p.Target)
		return err
	case ProbeHTTP:
		return checkURL(p.Target)
	case ProbeConfirm:
		if p.Target != "" {
			return errors.New("want no target: confirm has none")
		}
		return nil
	}
	return fmt.Errorf("unknown type %q, want ping, dns, tcp, http or confirm", short(string(p.Type)))
}

// SplitTarget splits host:port. The host is an address or a host name, an IPv6
// address in brackets; the port is a number.
func SplitTarget(target string) (host string, port uint16, err error) {
	end := strings.LastIndexByte(target, ':')
	if end < 0 {
		return "", 0, errors.New("want host:port")
	}
	host = target[:end]
	if inner, opened := strings.CutPrefix(host, "["); opened {
		inside, closed := strings.CutSuffix(inner, "]")
		if address, err := netip.ParseAddr(inside); !closed || err != nil || !address.Is6() {
			return "", 0, errors.New("want host:port, with nothing but an IPv6 address in brackets")
		}
		host = inside
	} else if strings.ContainsRune(host, ':') {
		return "", 0, errors.New("want host:port, an IPv6 address in brackets")
	}
	number, err := strconv.ParseUint(target[end+1:], 10, 16)
	if err != nil || number == 0 {
		return "", 0, errors.New("want host:port, the port a number from 1 to 65535")
	}
	return host, uint16(number), checkHost(host)
}

func checkURL(target string) error {
	u, err := url.Parse(target)
	if err != nil {
		return errors.New("want a URL, such as http://192.0.2.1/healthz")
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return errors.New("want a URL, such as http://192.0.2.1/healthz")
	case u.User != nil:
		return errors.New("want no user or password: the target is shown to everybody")
	}
	if port := u.Port(); port != "" || strings.HasSuffix(u.Host, ":") {
		if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
			return errors.New("want a port from 1 to 65535, or none")
		}
	}
	return checkHost(u.Hostname())
}

// checkHost takes the address of one host, or a name.
func checkHost(host string) error {
	address, err := netip.ParseAddr(host)
	switch {
	case err != nil && isHostName(host):
		return nil
	case err != nil:
		return errors.New("want an address or a host name")
	case address.IsUnspecified() || address.IsMulticast() || address.Unmap() == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return errors.New("want the address of one host")
	case address.Is6() && address.IsLinkLocalUnicast() && address.Zone() == "":
		return fmt.Errorf("want the link too, such as %s%%eth0", address)
	}
	return nil
}

// isHostName takes letters, digits, hyphens and, as they occur in names too,
// underscores. The last label may not be a number: that is an address with a
// mistake in it.
func isHostName(name string) bool {
	name = strings.TrimSuffix(name, ".")
	if name == "" || len(name) > maxHostName {
		return false
	}
	last := ""
	for label := range strings.SplitSeq(name, ".") {
		if !isLabel(label) {
			return false
		}
		last = label
	}
	return strings.Trim(last, "0123456789") != ""
}

func isLabel(label string) bool {
	if label == "" || len(label) > maxHostLabel || strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") {
		return false
	}
	return !strings.ContainsFunc(label, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_'
	})
}

// short keeps a message readable, whatever was written.
func short(text string) string {
	const most = 80
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}

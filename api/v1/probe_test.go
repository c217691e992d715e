package v1_test

import (
	"strings"
	"testing"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func probes(probe v1.Probe) []v1.Probe { return []v1.Probe{probe} }

func TestTargetsOfProbes(t *testing.T) {
	const url = "want a URL, such as http://192.0.2.1/healthz"
	long := strings.Repeat("a", 64)
	for sentence, c := range map[string]struct {
		kind   v1.ProbeType
		target string
		want   string
	}{
		"ping of an IPv4 address":                   {v1.ProbePing, "192.0.2.1", ""},
		"ping of an IPv6 address":                   {v1.ProbePing, "2001:db8::1", ""},
		"ping of a link-local address with link":    {v1.ProbePing, "fe80::1%eth0", ""},
		"ping of a link-local address without link": {v1.ProbePing, "fe80::1", "want the link too, such as fe80::1%eth0"},
		"ping of a host name":                       {v1.ProbePing, "gw-1.example.com", ""},
		"ping of a name with a dot at its end":      {v1.ProbePing, "gw.example.com.", ""},
		"ping of a mistyped address":                {v1.ProbePing, "192.0.2.300", "want an address or a host name"},
		"ping of a network":                         {v1.ProbePing, "192.0.2.0/24", "want an address or a host name"},
		"ping of no single host":                    {v1.ProbePing, "0.0.0.0", "want the address of one host"},
		"ping of many hosts":                        {v1.ProbePing, "ff02::1%eth0", "want the address of one host"},
		"ping of a label that is too long":          {v1.ProbePing, long + ".com", "want an address or a host name"},
		"ping with a space":                         {v1.ProbePing, "192.0.2.1 192.0.2.2", "want no spaces or control characters"},
		"ping with a new line":                      {v1.ProbePing, "192.0.2.1\n", "want no spaces or control characters"},
		"a target that outgrew its limit":           {v1.ProbePing, strings.Repeat("a.", 300), "want at most 512 bytes"},
		"a name to resolve":                         {v1.ProbeDNS, "_ldap._tcp.example.com", ""},
		"an address to resolve":                     {v1.ProbeDNS, "192.0.2.1", "want a host name"},
		"a port of an IPv4 address":                 {v1.ProbeTCP, "192.0.2.1:443", ""},
		"a port of an IPv6 address":                 {v1.ProbeTCP, "[2001:db8::1]:443", ""},
		"a port of a host name":                     {v1.ProbeTCP, "db.example.com:5432", ""},
		"a host without a port":                     {v1.ProbeTCP, "192.0.2.1", "want host:port"},
		"an IPv6 address without brackets":          {v1.ProbeTCP, "2001:db8::1:443", "want host:port, an IPv6 address in brackets"},
		"a name in brackets":                        {v1.ProbeTCP, "[example.com]:443", "want host:port, with nothing but an IPv6 address in brackets"},
		"a port without a host":                     {v1.ProbeTCP, ":443", "want an address or a host name"},
		"a port that is a name":                     {v1.ProbeTCP, "192.0.2.1:https", "want host:port, the port a number from 1 to 65535"},
		"a port beyond the last":                    {v1.ProbeTCP, "192.0.2.1:65536", "want host:port, the port a number from 1 to 65535"},
		"a URL":                                     {v1.ProbeHTTP, "https://example.com:8443/healthz?full=1", ""},
		"a URL of an IPv6 address":                  {v1.ProbeHTTP, "http://[2001:db8::1]/", ""},
		"a URL without a scheme":                    {v1.ProbeHTTP, "example.com/healthz", url},
		"a URL of another scheme":                   {v1.ProbeHTTP, "ftp://example.com/", url},
		"a URL without a host":                      {v1.ProbeHTTP, "http:///healthz", url},
		"a URL with a bad host":                     {v1.ProbeHTTP, "http://exa_mple..com/", "want an address or a host name"},
		"a URL with a password":                     {v1.ProbeHTTP, "http://user:secret@example.com/", "want no user or password: the target is shown to everybody"},
		"a URL with a port of no number":            {v1.ProbeHTTP, "http://example.com:0/", "want a port from 1 to 65535, or none"},
		"a person":                                  {v1.ProbeConfirm, "", ""},
		"a person with a name":                      {v1.ProbeConfirm, "Ada", "want no target: confirm has none"},
		"an unknown type":                           {"arp", "192.0.2.1", `unknown type "arp", want ping, dns, tcp, http or confirm`},
	} {
		t.Run(sentence, func(t *testing.T) {
			err := v1.CheckProbes("spec.probes", probes(v1.Probe{Type: c.kind, Target: c.target}))
			switch {
			case c.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), `spec.probes[0].target: "`) || !strings.HasSuffix(err.Error(), c.want)):
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestMessagesOfBadProbesNameTheirPlace(t *testing.T) {
	ping := v1.Probe{Type: v1.ProbePing, Target: "192.0.2.1"}
	for sentence, c := range map[string]struct {
		probes []v1.Probe
		want   string
	}{
		"none":                {nil, ""},
		"a target":            {[]v1.Probe{ping, {Type: v1.ProbeTCP, Target: "192.0.2.1"}}, `spec.probes[1].target: "192.0.2.1": want host:port`},
		"a second time":       {[]v1.Probe{ping, ping}, "spec.probes[1]: ping 192.0.2.1 is listed already, at spec.probes[0]; remove one of them"},
		"a second person":     {[]v1.Probe{{Type: v1.ProbeConfirm}, {Type: v1.ProbeConfirm}}, "spec.probes[1]: confirm is listed already, at spec.probes[0]; remove one of them"},
		"one target, 2 kinds": {[]v1.Probe{{Type: v1.ProbePing, Target: "example.com"}, {Type: v1.ProbeDNS, Target: "example.com"}}, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := ""
			if err := v1.CheckProbes("spec.probes", c.probes); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// FuzzProbeNames: whatever passes the check is found again by its name, and
// whatever is said about a mistake is one line of bounded length.
func FuzzProbeNames(f *testing.F) {
	for _, name := range []string{
		"ping 192.0.2.1", "ping fe80::1%eth0", "dns example.com", "tcp [2001:db8::1]:443", "tcp db:5432",
		"http https://example.com:8443/a?b=c#d", "http http://[::1%25lo]:80", "confirm", "confirm x", "ping  ", "tcp ::1:80", "http http://a:b@c/", "dns .",
	} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		probe, err := v1.ParseProbe(name)
		checked := v1.CheckProbes("spec.probes", probes(probe))
		if (err == nil) != (checked == nil) {
			t.Fatalf("parsed: %v, checked: %v", err, checked)
		}
		if err != nil {
			if text := checked.Error(); strings.ContainsAny(text, "\n\r") || len(text) > 1024 {
				t.Errorf("not one short line: %q", text)
			}
			return
		}
		if probe.Name() != name && name != string(probe.Type)+" " {
			t.Errorf("named %q, was %q", probe.Name(), name)
		}
		if again, err := v1.ParseProbe(probe.Name()); err != nil || again.Name() != probe.Name() {
			t.Errorf("parsed again: %+v, %v", again, err)
		}
	})
}

//go:build linux

package lab

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// pingsOff are the kernel's switches for a gateway that is there and does not
// answer pings.
var pingsOff = []string{"/proc/sys/net/ipv4/icmp_echo_ignore_all", "/proc/sys/net/ipv6/icmp/echo_ignore_all"}

// Gateway has all gateways fall silent, or answer again: "ping" is echo requests,
// "dns" is name servers, and DHCP and router advertisements with them. The way to
// the API server is not touched.
func (l *Lab) Gateway(ctx context.Context, what string, answers bool) error {
	verb := map[bool]string{true: "on", false: "off"}[answers]
	if _, err := l.ask(ctx, l.fabricDir(), request{Verb: "gateway", Target: what, Args: []string{verb}}); err != nil {
		return fmt.Errorf("switching %s of the gateways %s: %w", what, verb, err)
	}
	return nil
}

// gateway carries that out.
func (f *fabric) gateway(what string, answers bool) error {
	switch what {
	case "ping":
		for _, path := range pingsOff {
			value := map[bool]string{true: "0", false: "1"}[answers]
			if err := os.WriteFile(path, []byte(value), 0o644); err != nil && !os.IsNotExist(err) {
				return fmt.Errorf("telling the kernel: %w", err)
			}
		}
		return nil
	case "dns":
		sig := map[bool]syscall.Signal{true: syscall.SIGCONT, false: syscall.SIGSTOP}[answers]
		for _, u := range f.sup.status() {
			if !strings.HasPrefix(u.Name, "dnsmasq-") {
				continue
			}
			if err := f.sup.signal(u.Name, sig); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("%q is neither ping nor dns", what)
}

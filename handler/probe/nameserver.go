package probe

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"
)

// busAttempt bounds the question to NetworkManager, so that one that hangs
// leaves time for the name servers of resolv.conf.
const busAttempt = 300 * time.Millisecond

// nameServers reads the host's name servers as they are now: those that
// NetworkManager uses, and where it has none or is not there, resolv.conf's.
// A resolv.conf alone would not do: in a container it is a copy from its start.
func (l *Live) nameServers(ctx context.Context) ([]netip.Addr, error) {
	busCtx, cancel := context.WithTimeout(ctx, busAttempt)
	defer cancel()
	texts, busErr := askForNameServers(busCtx, l.BusAddress)
	servers := parseNameServers(texts)
	if len(servers) > 0 {
		return servers, nil
	}
	raw, err := os.ReadFile(l.ResolvConf)
	if err != nil && busErr != nil {
		return nil, fmt.Errorf("neither NetworkManager (%w) nor %s tells the name servers: %w", busErr, l.ResolvConf, err)
	}
	return parseNameServers(resolvConfServers(string(raw))), nil
}

// askForNameServers asks NetworkManager on a connection of its own.
func askForNameServers(ctx context.Context, address string) ([]string, error) {
	conn, err := dbus.Connect(address, dbus.WithContext(ctx))
	if err != nil {
		return nil, readable(err)
	}
	defer func() { _ = conn.Close() }()
	dnsManager := conn.Object("org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager/DnsManager")
	var answer dbus.Variant
	err = dnsManager.CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get", dbus.FlagNoAutoStart,
		"org.freedesktop.NetworkManager.DnsManager", "Configuration").Store(&answer)
	if err != nil {
		return nil, err
	}
	var entries []map[string]dbus.Variant
	if err := answer.Store(&entries); err != nil {
		return nil, fmt.Errorf("reading NetworkManager's DNS configuration: %w", err)
	}
	return entryServers(entries), nil
}

// entryServers lists the name servers of the entries that count; a link-local
// one gets the link of its entry. An entry of no interface and for no domain is
// NetworkManager's global configuration (nmstate writes name servers there where
// no profile may hold them): then the node asks nobody else, although the
// interfaces' own servers are still listed.
func entryServers(entries []map[string]dbus.Variant) []string {
	if i := slices.IndexFunc(entries, isGlobal); i >= 0 {
		entries = entries[i : i+1]
	}
	var servers []string
	for _, entry := range entries {
		addresses, _ := entry["nameservers"].Value().([]string) // There may be search domains only.
		link, _ := entry["interface"].Value().(string)
		for _, address := range addresses {
			parsed, err := netip.ParseAddr(address)
			if err == nil && parsed.Is6() && parsed.IsLinkLocalUnicast() && parsed.Zone() == "" && link != "" {
				address += "%" + link
			}
			servers = append(servers, address)
		}
	}
	return servers
}

func isGlobal(entry map[string]dbus.Variant) bool {
	addresses, _ := entry["nameservers"].Value().([]string)
	_, ofInterface := entry["interface"]
	_, ofDomain := entry["domains"]
	return len(addresses) > 0 && !ofInterface && !ofDomain
}

// resolvConfServers are the nameserver lines of a resolv.conf(5).
func resolvConfServers(text string) []string {
	var servers []string
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == "nameserver" {
			servers = append(servers, fields[1])
		}
	}
	return servers
}

// parseNameServers takes addresses and, as NetworkManager writes since 1.52,
// "dns+udp://192.0.2.1" and "192.0.2.1#name". Servers that speak only TLS are
// left out: they cannot be asked over UDP.
func parseNameServers(texts []string) []netip.Addr {
	var servers []netip.Addr
	for _, text := range texts {
		if scheme, rest, found := strings.Cut(text, "://"); found {
			if scheme != "dns+udp" && scheme != "dns" {
				continue
			}
			text = rest
		}
		text, _, _ = strings.Cut(text, "#")
		if host, port, err := net.SplitHostPort(text); err == nil && port == dnsPort {
			text = host
		}
		server, err := netip.ParseAddr(strings.Trim(text, "[]"))
		if err != nil {
			continue
		}
		if server = server.Unmap(); !slices.Contains(servers, server) {
			servers = append(servers, server)
		}
	}
	return servers
}

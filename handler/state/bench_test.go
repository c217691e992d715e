package state_test

import (
	"fmt"
	"testing"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// large is a state of so many interfaces, each with an address and a route.
func large(count int) state.State {
	var interfaces, routes []any
	for i := range count {
		name := fmt.Sprintf("eth%d", i)
		interfaces = append(interfaces, map[string]any{
			"name": name, "type": "ethernet", "state": "up", "mtu": 1500, "mac-address": fmt.Sprintf("02:00:00:00:%02X:%02X", i/256, i%256),
			"ipv4": map[string]any{"enabled": true, "dhcp": false, "address": []any{
				map[string]any{"ip": fmt.Sprintf("10.%d.%d.1", i/256, i%256), "prefix-length": 24},
			}},
			"ipv6": map[string]any{"enabled": false},
		})
		routes = append(routes, map[string]any{
			"destination": fmt.Sprintf("172.16.%d.%d/32", i/256, i%256), "next-hop-interface": name, "metric": 100, "table-id": 254,
		})
	}
	return state.FromTree(map[string]any{"interfaces": interfaces, "routes": map[string]any{"config": routes, "running": routes}})
}

func BenchmarkParseDesiredOf500Interfaces(b *testing.B) {
	raw := large(500).JSON()
	b.ReportAllocs()
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if _, err := state.ParseDesired(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMissingFrom500Interfaces(b *testing.B) {
	all := large(500)
	b.ReportAllocs()
	for b.Loop() {
		if missing := state.Missing(all, all); len(missing) > 0 {
			b.Fatal(missing[0])
		}
	}
}

func BenchmarkMissingOfOneFrom500Interfaces(b *testing.B) {
	one, all := large(1), large(500)
	b.ReportAllocs()
	for b.Loop() {
		if missing := state.Missing(one, all); len(missing) > 0 {
			b.Fatal(missing[0])
		}
	}
}

func BenchmarkReportOf500Interfaces(b *testing.B) {
	all := large(500)
	b.ReportAllocs()
	for b.Loop() {
		_ = state.Report(all)
	}
}

func BenchmarkDeltaOfOneIn500Interfaces(b *testing.B) {
	from, to := large(499), large(500)
	b.ReportAllocs()
	for b.Loop() {
		if delta := state.Delta(from, to); len(delta.Interfaces()) != 1 {
			b.Fatal("not one interface")
		}
	}
}

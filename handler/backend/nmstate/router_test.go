//go:build linux && cgo && nmstate

package nmstate

import (
	"net"
	"net/netip"
	"syscall"
	"testing"
	"time"
)

// advertise has a router behind the other end of a NIC: an advertisement of the
// prefix each second, until the test ends (RFC 4861, 4.2 and 4.6.2).
func advertise(t *testing.T, peer string, prefix netip.Prefix) {
	t.Helper()
	const advertisement, onLinkAutonomous = 134, 0xc0
	packet := append([]byte{advertisement, 0, 0, 0, 64, 0, 0x07, 0x08, 0, 0, 0, 0, 0, 0, 0, 0,
		3, 4, byte(prefix.Bits()), onLinkAutonomous, 0, 0, 0x0e, 0x10, 0, 0, 0x07, 0x08, 0, 0, 0, 0}, prefix.Addr().AsSlice()...)
	socket, err := syscall.Socket(syscall.AF_INET6, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, syscall.IPPROTO_ICMPV6)
	if err != nil {
		t.Fatalf("making the router's socket: %v", err)
	}
	if err := syscall.SetsockoptInt(socket, syscall.IPPROTO_IPV6, syscall.IPV6_MULTICAST_HOPS, 255); err != nil {
		t.Fatalf("setting the hop limit of the router's packets: %v", err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		every := time.NewTicker(time.Second)
		defer every.Stop()
		for {
			// After a reboot the other end is another link.
			if link, err := net.InterfaceByName(peer); err == nil {
				_ = syscall.Sendto(socket, packet, 0, &syscall.SockaddrInet6{ZoneId: uint32(link.Index), Addr: netip.MustParseAddr("ff02::1").As16()})
			}
			select {
			case <-every.C:
			case <-stop:
				return
			}
		}
	}()
	t.Cleanup(func() {
		close(stop)
		<-stopped
		_ = syscall.Close(socket)
	})
}

//go:build linux

package lab

import (
	"context"
	"errors"
	"fmt"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
	"k8s.io/utils/clock"
)

// announcer sends the switches' LLDP frames, one for each NIC whose switch has
// something to say.
type announcer struct {
	socket int
	frames map[string][]byte // by the far end's name
}

// newAnnouncer is for a process in the fabric's network namespace.
func newAnnouncer(t *Topology) (*announcer, error) {
	a := &announcer{frames: map[string][]byte{}}
	for _, n := range t.Nodes {
		for _, nic := range n.NICs {
			s := t.switchOf(nic.Switch)
			if s.LLDP == nil {
				continue
			}
			frame, err := lldpFrame(*s.LLDP, macOf("far", n.Name, nic.Name), n.Name+"."+nic.Name)
			if err != nil {
				return nil, fmt.Errorf("switch %s: %w", s.Name, err)
			}
			a.frames[peerName(n.Name, nic.Name)] = frame
		}
	}
	// Protocol 0: the socket sends, and receives nothing.
	socket, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("opening a packet socket: %w", err)
	}
	a.socket = socket
	return a, nil
}

// run announces until ctx ends.
func (a *announcer) run(ctx context.Context, c clock.WithTicker) error {
	defer func() { _ = unix.Close(a.socket) }()
	if len(a.frames) == 0 {
		<-ctx.Done()
		return nil
	}
	ticker := c.NewTicker(lldpInterval)
	defer ticker.Stop()
	for {
		if err := a.announce(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
	}
}

// announce sends one frame through each far end that there is now: NICs are
// pulled out and put in while the fabric runs.
func (a *announcer) announce() error {
	links, err := netlink.LinkList()
	if errors.Is(err, netlink.ErrDumpInterrupted) {
		return nil // a link came or went; the next round has it
	}
	if err != nil {
		return fmt.Errorf("listing the switches' ports: %w", err)
	}
	for _, link := range links {
		frame, ok := a.frames[link.Attrs().Name]
		if !ok {
			continue
		}
		err := unix.Sendto(a.socket, frame, 0, &unix.SockaddrLinklayer{Ifindex: link.Attrs().Index})
		if err != nil && !lostFrame(err) {
			return fmt.Errorf("announcing through %s: %w", link.Attrs().Name, err)
		}
	}
	return nil
}

// lostFrame is what a wire without carrier, or pulled out in this moment, says.
func lostFrame(err error) bool {
	return errors.Is(err, unix.ENETDOWN) || errors.Is(err, unix.ENXIO) || errors.Is(err, unix.ENODEV) || errors.Is(err, unix.ENOBUFS)
}

//go:build linux

package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
	"k8s.io/utils/clock"
)

// nodeSpec is what Up tells a node's pid 1, in FOLDER/node.json.
type nodeSpec struct {
	Name string    `json:"name"`
	NICs []nicPlan `json:"nics"`
	// Links and Profiles are the topology's, for the first boot.
	Links    []nicPlan         `json:"links,omitempty"`
	Profiles map[string]string `json:"profiles,omitempty"`
	// Base is the root that programs come from.
	Base    string   `json:"base"`
	Binds   []string `json:"binds,omitempty"`
	Handler []string `json:"handler,omitempty"` // argv; none: no handler
	// NMLogLevel is NetworkManager's own word: INFO, DEBUG, TRACE.
	NMLogLevel  string `json:"nmLogLevel"`
	OpenVSwitch bool   `json:"openvswitch,omitempty"`
}

// nicPlan is a NIC, or a link on top of others, with what NetworkManager's profile
// for it says.
type nicPlan struct {
	NICSpec
	Link *LinkSpec `json:"link,omitempty"`
	// Controller is the link that it is a port of, and of which type that is.
	Controller     string `json:"controller,omitempty"`
	ControllerType string `json:"controllerType,omitempty"`
	// Trunk are the VLANs of the bridge that it is a port of.
	Trunk string `json:"trunk,omitempty"`

	MAC      string `json:"mac"`
	Gateway  string `json:"gateway,omitempty"`
	Gateway6 string `json:"gateway6,omitempty"`
	DNS      string `json:"dns,omitempty"`
}

// runNode is the main of a node's pid 1.
func runNode(ctx context.Context, dir string) error {
	spec, err := readNodeSpec(dir)
	if err != nil {
		return err
	}
	if err := cutMounts(); err != nil {
		return err
	}
	if err := unix.Sethostname([]byte(spec.Name)); err != nil {
		return fmt.Errorf("setting the host name: %w", err)
	}
	if err := enterRoot(ctx, spec, dir); err != nil {
		return err
	}
	if err := firstBoot(spec); err != nil {
		return err
	}
	sup := newSupervisor(clock.RealClock{}, nodeUnits(spec)...)
	go sup.reap(ctx)
	up := make(chan struct{})
	var failed error
	err = serve(ctx, nodeShare, func(ctx context.Context, req request) response {
		switch req.Verb {
		case "wait":
		case "freeze":
			if err := freeze(); err != nil {
				return response{Error: err.Error()}
			}
			return response{}
		default:
			return sup.answer(ctx, req)
		}
		<-up
		if failed != nil {
			return response{Error: failed.Error()}
		}
		return response{}
	})
	if err != nil {
		return err
	}
	failed = bootNode(ctx, spec, sup)
	close(up)
	if failed != nil {
		fmt.Fprintln(os.Stderr, failed)
	}
	<-ctx.Done() // a node that failed stays to be looked at
	return nil
}

func readNodeSpec(dir string) (*nodeSpec, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "node.json"))
	if err != nil {
		return nil, fmt.Errorf("reading what the node should be: %w", err)
	}
	spec := &nodeSpec{}
	if err := json.Unmarshal(raw, spec); err != nil {
		return nil, fmt.Errorf("reading what the node should be: %w", err)
	}
	return spec, nil
}

// bootNode starts D-Bus and, once the harness has plugged in the NICs,
// NetworkManager.
func bootNode(ctx context.Context, spec *nodeSpec, sup *supervisor) error {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("finding lo: %w", err)
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		return fmt.Errorf("setting lo up: %w", err)
	}
	if err := sup.start(ctx, "dbus"); err != nil {
		return err
	}
	if spec.OpenVSwitch {
		if err := startOpenVSwitch(ctx, sup); err != nil {
			return err
		}
	}
	err = poll(ctx, 10*time.Second, func() error {
		for _, nic := range spec.NICs {
			if _, err := netlink.LinkByName(nic.Name); err != nil {
				return fmt.Errorf("NIC %s is not plugged in: %w", nic.Name, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return sup.start(ctx, "nm")
}

func nodeUnits(spec *nodeSpec) []*unit {
	units := []*unit{
		{
			name:    "dbus",
			argv:    []string{"dbus-daemon", "--system", "--nofork", "--nopidfile", "--nosyslog"},
			logFile: nodeShare + "/dbus.log",
			ready:   dbusAnswers,
		},
		{
			name: "nm",
			argv: []string{"NetworkManager", "--debug", "--log-level=" + spec.NMLogLevel,
				"--config=" + nmConf, "--config-dir=" + nmConfDir, "--system-config-dir=/run/no-such-folder"},
			logFile: nodeShare + "/nm.log",
			before:  func() error { return remountSys(true) },
			ready: func(ctx context.Context) error {
				if err := nmStarted(ctx); err != nil {
					return err
				}
				return remountSys(false)
			},
		},
	}
	if spec.OpenVSwitch {
		units = append(units, ovsUnits()...)
	}
	if len(spec.Handler) > 0 {
		handler := &unit{
			name: "handler",
			argv: spec.Handler,
			env:  []string{"NODE_NAME=" + spec.Name, "KUBECONFIG=" + nodeShare + "/kubeconfig"},
			// What it calls is built beside it.
			path:    filepath.Dir(spec.Handler[0]) + ":",
			logFile: nodeShare + "/handler.log",
			restart: true,
			gate: func(ctx context.Context) error {
				return apiServerAnswers(ctx, nodeShare+"/kubeconfig")
			},
		}
		handler.before = func() error { // Its arguments may have changed, see SetHandlerArgs.
			now, err := readNodeSpec(nodeShare)
			if err == nil {
				handler.argv = now.Handler
			}
			return err
		}
		units = append(units, handler)
	}
	return units
}

// poll tries f every few milliseconds until it succeeds; the error of the last
// try says why it never did.
func poll(ctx context.Context, limit time.Duration, f func() error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := clock.RealClock{}.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		err := f()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w (%w)", err, ctx.Err())
		case <-tick.C():
		}
	}
}

func dbusAnswers(ctx context.Context) error {
	return poll(ctx, time.Minute, func() error {
		var dialer net.Dialer
		conn, err := dialer.DialContext(ctx, "unix", "/run/dbus/system_bus_socket")
		if err != nil {
			return fmt.Errorf("D-Bus does not answer: %w", err)
		}
		return conn.Close()
	})
}

// nmStarted waits until NetworkManager has finished its start-up, that is, has
// brought up what its profiles say as far as it could.
func nmStarted(ctx context.Context) error {
	const name = "org.freedesktop.NetworkManager"
	conn, err := dbus.Connect("unix:path=/run/dbus/system_bus_socket")
	if err != nil {
		return fmt.Errorf("connecting to D-Bus: %w", err)
	}
	defer func() { _ = conn.Close() }()
	nm := conn.Object(name, "/org/freedesktop/NetworkManager")
	return poll(ctx, 60*time.Second, func() error {
		starting, err := nm.GetProperty(name + ".Startup")
		if err != nil {
			return fmt.Errorf("NetworkManager does not answer: %w", err)
		}
		if busy, ok := starting.Value().(bool); !ok || busy {
			return errors.New("NetworkManager is still starting")
		}
		return nil
	})
}

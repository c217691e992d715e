package observe

import (
	"context"
	"errors"
	"fmt"

	"github.com/godbus/dbus/v5"
)

const (
	systemBus = "unix:path=/run/dbus/system_bus_socket"
	// nmName is NetworkManager's name on the bus, and the start of the names of
	// its interfaces.
	nmName      = "org.freedesktop.NetworkManager"
	nmPath      = "/org/freedesktop/NetworkManager"
	busName     = "org.freedesktop.DBus"
	properties  = "org.freedesktop.DBus.Properties"
	nameHasNone = "org.freedesktop.DBus.Error.NameHasNoOwner"
)

// signals are those of NetworkManager that tell of something that a report
// contains and the kernel does not tell.
var signals = []struct {
	path              dbus.ObjectPath // empty: any
	emitter, member   string
	changedInterface  string   // of PropertiesChanged
	changedProperties []string // of it; empty: all
}{
	{emitter: properties, member: "PropertiesChanged", path: nmPath + "/DnsManager"},
	{emitter: properties, member: "PropertiesChanged", path: nmPath + "/Settings", changedInterface: nmName + ".Settings", changedProperties: []string{"Hostname"}},
	{emitter: properties, member: "PropertiesChanged", changedInterface: nmName + ".Device", changedProperties: []string{"LldpNeighbors", "Managed", "State"}},
	{emitter: nmName + ".Settings", member: "NewConnection"},
	{emitter: nmName + ".Settings", member: "ConnectionRemoved"},
	{emitter: nmName + ".Settings.Connection", member: "Updated"},
}

// watchBus follows NetworkManager until the connection to the bus ends.
func (w *Watcher) watchBus(ctx context.Context, seen *owner, up func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// Signals must stay in order: gone and back is not back and gone.
	conn, err := dbus.Connect(w.BusAddress, dbus.WithContext(ctx), dbus.WithSignalHandler(dbus.NewSequentialSignalHandler()))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	arriving := make(chan *dbus.Signal, 16)
	conn.Signal(arriving)
	if err := subscribe(ctx, conn); err != nil {
		return err
	}
	bus, err := busID(ctx, conn)
	if err != nil {
		return err
	}
	name, err := ownerOf(ctx, conn, nmName)
	if err != nil {
		return err
	}
	w.noteOwner(ctx, seen, bus, name)
	up()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-conn.Context().Done():
			return errors.New("the connection was closed")
		case signal, ok := <-arriving:
			switch {
			case !ok:
				return errors.New("the connection was closed")
			case signal.Name == busName+".NameOwnerChanged":
				if name, ok := newOwner(signal); ok {
					w.noteOwner(ctx, seen, bus, name)
				}
			case matters(signal):
				w.trigger(ctx)
			}
		}
	}
}

func (w *Watcher) noteOwner(ctx context.Context, seen *owner, bus, name string) {
	instance := ""
	if name != "" {
		instance = bus + name // Names are only unique within the life of a bus.
	}
	if event, happened := seen.now(instance); happened {
		w.tell(ctx, event)
		w.trigger(ctx)
	}
}

func subscribe(ctx context.Context, conn *dbus.Conn) error {
	rules := [][]dbus.MatchOption{{
		dbus.WithMatchSender(busName), dbus.WithMatchInterface(busName),
		dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, nmName),
	}}
	for _, s := range signals {
		rule := []dbus.MatchOption{dbus.WithMatchSender(nmName), dbus.WithMatchInterface(s.emitter), dbus.WithMatchMember(s.member)}
		if s.path != "" {
			rule = append(rule, dbus.WithMatchObjectPath(s.path))
		}
		if s.changedInterface != "" {
			rule = append(rule, dbus.WithMatchArg(0, s.changedInterface))
		}
		rules = append(rules, rule)
	}
	for _, rule := range rules {
		if err := conn.AddMatchSignalContext(ctx, rule...); err != nil {
			return fmt.Errorf("subscribing to signals: %w", err)
		}
	}
	return nil
}

// newOwner reads a NameOwnerChanged(name, old owner, new owner).
func newOwner(signal *dbus.Signal) (string, bool) {
	if len(signal.Body) != 3 || signal.Body[0] != nmName {
		return "", false
	}
	name, ok := signal.Body[2].(string)
	return name, ok
}

// matters tells whether a signal is one of those that were subscribed to, and
// of a property that is in a report.
func matters(signal *dbus.Signal) bool {
	for _, s := range signals {
		if signal.Name != s.emitter+"."+s.member || (s.path != "" && signal.Path != s.path) {
			continue
		}
		if s.changedInterface == "" || changes(signal, s.changedInterface, s.changedProperties) {
			return true
		}
	}
	return false
}

// changes reads a PropertiesChanged(interface, changed, invalidated).
func changes(signal *dbus.Signal, emitter string, names []string) bool {
	if len(signal.Body) < 2 || signal.Body[0] != emitter {
		return false
	}
	changed, ok := signal.Body[1].(map[string]dbus.Variant)
	if !ok {
		return false
	}
	for _, name := range names {
		if _, ok := changed[name]; ok {
			return true
		}
	}
	return len(names) == 0
}

func busID(ctx context.Context, conn *dbus.Conn) (string, error) {
	var id string
	if err := conn.BusObject().CallWithContext(ctx, busName+".GetId", 0).Store(&id); err != nil {
		return "", fmt.Errorf("asking for the bus's id: %w", err)
	}
	return id, nil
}

// ownerOf returns the unique name behind a name; empty when nobody has it.
func ownerOf(ctx context.Context, conn *dbus.Conn, name string) (string, error) {
	var owner string
	err := conn.BusObject().CallWithContext(ctx, busName+".GetNameOwner", 0, name).Store(&owner)
	if answer := (dbus.Error{}); errors.As(err, &answer) && answer.Name == nameHasNone {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("asking who is %s: %w", name, err)
	}
	return owner, nil
}

// Daemon is NetworkManager as it tells of itself.
type Daemon struct {
	Version string
	// ResolvConf is how it keeps /etc/resolv.conf: its rc-manager.
	ResolvConf string
}

// AskNetworkManager asks it on a connection of its own. An empty busAddress is the
// system's bus.
func AskNetworkManager(ctx context.Context, busAddress string) (Daemon, error) {
	if busAddress == "" {
		busAddress = systemBus
	}
	conn, err := dbus.Connect(busAddress, dbus.WithContext(ctx))
	if err != nil {
		return Daemon{}, fmt.Errorf("asking for NetworkManager's version: %w", err)
	}
	defer func() { _ = conn.Close() }()
	var found Daemon
	for _, one := range []struct {
		what, path, of, property string
		into                     *string
	}{
		{"version", nmPath, nmName, "Version", &found.Version},
		{"rc-manager", nmPath + "/DnsManager", nmName + ".DnsManager", "RcManager", &found.ResolvConf},
	} {
		var answer dbus.Variant
		err = conn.Object(nmName, dbus.ObjectPath(one.path)).CallWithContext(ctx, properties+".Get", dbus.FlagNoAutoStart, one.of, one.property).Store(&answer)
		if err != nil {
			return found, fmt.Errorf("asking for NetworkManager's %s: %w", one.what, err)
		}
		told, ok := answer.Value().(string)
		if !ok {
			return found, fmt.Errorf("asking for NetworkManager's %s: it answered %v", one.what, answer)
		}
		*one.into = told
	}
	return found, nil
}

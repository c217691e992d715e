package nmstate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
)

const (
	busName          = "org.freedesktop.DBus"
	busPath          = dbus.ObjectPath("/org/freedesktop/DBus")
	nmName           = "org.freedesktop.NetworkManager"
	nmPath           = dbus.ObjectPath("/org/freedesktop/NetworkManager")
	checkpointPrefix = "/org/freedesktop/NetworkManager/Checkpoint/"
	checkpointName   = nmName + ".Checkpoint"
	deviceName       = nmName + ".Device"
	propertiesName   = "org.freedesktop.DBus.Properties"

	// answerWithin bounds one D-Bus call; a NetworkManager that is slower
	// counts as not there.
	answerWithin = 10 * time.Second
	// rollbackWithin bounds a rollback, which answers when it is done. Fifty
	// bridges took 3 s.
	rollbackWithin = 60 * time.Second
)

// systemBus is a connection to NetworkManager.
type systemBus struct {
	conn *dbus.Conn
	// owner is NetworkManager's unique name on the bus. Calls go to it, so
	// that no call reaches a successor or starts one.
	owner string
}

// dialled connects to the NetworkManager of the bus at address, the system's
// when empty. ErrUnavailable comes at once: nothing is started or waited for.
func dialled(ctx context.Context, address string) (*systemBus, error) {
	connect := dbus.ConnectSystemBus
	if address != "" {
		connect = func(options ...dbus.ConnOption) (*dbus.Conn, error) { return dbus.Connect(address, options...) }
	}
	conn, err := connect(dbus.WithContext(context.WithoutCancel(ctx)))
	if err != nil {
		return nil, fmt.Errorf("%w: no D-Bus: %v", backend.ErrUnavailable, err)
	}
	m := &systemBus{conn: conn}
	err = m.ask(ctx, answerWithin, busName, busPath, busName+".GetNameOwner", nmName).Store(&m.owner)
	switch {
	case err == nil:
		return m, nil
	case ctx.Err() == nil && errors.Is(err, backend.ErrUnavailable):
		err = fmt.Errorf("%w: it is not running", backend.ErrUnavailable)
	}
	m.close()
	return nil, err
}

// close ends the connection. An error of it concerns nobody: every call has
// had its own answer.
func (m *systemBus) close() { _ = m.conn.Close() }

// call calls a method of NetworkManager's.
func (m *systemBus) call(ctx context.Context, within time.Duration, path dbus.ObjectPath, method string, args ...any) *dbus.Call {
	return m.ask(ctx, within, m.owner, path, method, args...)
}

// ask calls a method of whoever is on the bus. No answer within the time is
// ErrUnavailable, unless ctx ended before, which is its cause.
func (m *systemBus) ask(ctx context.Context, within time.Duration, who string, path dbus.ObjectPath, method string, args ...any) *dbus.Call {
	waiting, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	call := m.conn.Object(who, path).CallWithContext(waiting, method, dbus.FlagNoAutoStart, args...)
	switch {
	case call.Err == nil:
	case ctx.Err() != nil:
		call.Err = context.Cause(ctx)
	case waiting.Err() != nil:
		call.Err = fmt.Errorf("%w: no answer within %s", backend.ErrUnavailable, within)
	default:
		call.Err = spoken(method, call.Err)
	}
	return call
}

// property reads one property into value.
func (m *systemBus) property(ctx context.Context, path dbus.ObjectPath, of, name string, value any) error {
	return m.call(ctx, answerWithin, path, propertiesName+".Get", of, name).Store(value)
}

// busNames are D-Bus errors that mean that nobody is there.
var busNames = map[string]bool{
	"org.freedesktop.DBus.Error.ServiceUnknown": true,
	"org.freedesktop.DBus.Error.NameHasNoOwner": true,
	"org.freedesktop.DBus.Error.NoReply":        true,
	"org.freedesktop.DBus.Error.Disconnected":   true,
}

// goneNames are D-Bus errors that mean that the object is not there.
var goneNames = map[string]bool{
	"org.freedesktop.DBus.Error.UnknownObject":    true,
	"org.freedesktop.DBus.Error.UnknownMethod":    true,
	"org.freedesktop.DBus.Error.UnknownInterface": true,
}

// goneAnswers are what NetworkManager answers to one method where what it is about
// is not there. To another the same may mean that it failed: a Save that cannot
// write its file answers with InvalidConnection.
var goneAnswers = map[string]string{
	nmName + ".CheckpointDestroy":         "org.freedesktop.NetworkManager.InvalidArguments",
	nmName + ".CheckpointRollback":        "org.freedesktop.NetworkManager.InvalidArguments",
	nmName + ".GetDeviceByIpIface":        "org.freedesktop.NetworkManager.UnknownDevice",
	nmName + ".ActivateConnection":        "org.freedesktop.NetworkManager.UnknownDevice",
	settingsName + ".GetConnectionByUuid": "org.freedesktop.NetworkManager.Settings.InvalidConnection",
	// Of a device that has just gone: only what is made by software is deleted.
	deviceName + ".Delete": "org.freedesktop.NetworkManager.Device.NotSoftware",
	// Of a device that has no profile, and so no settings to be given again.
	deviceName + ".Reapply":              "org.freedesktop.NetworkManager.Device.NotActive",
	deviceName + ".GetAppliedConnection": "org.freedesktop.NetworkManager.Device.NotActive",
}

// spoken turns an error of a call of a method into one of the port's.
func spoken(method string, err error) error {
	var answered dbus.Error
	switch {
	case !errors.As(err, &answered):
		return fmt.Errorf("%w: %v", backend.ErrUnavailable, err)
	case busNames[answered.Name]:
		return fmt.Errorf("%w: %s", backend.ErrUnavailable, answered.Error())
	case goneNames[answered.Name], goneAnswers[method] == answered.Name:
		return fmt.Errorf("%w: %s", backend.ErrGone, answered.Error())
	}
	return fmt.Errorf("NetworkManager: %s", answered.Error())
}

// instance names this run of NetworkManager: unique names are never used again
// on a bus, and every bus has an id of its own.
func (m *systemBus) instance(ctx context.Context) (string, error) {
	var bus string
	if err := m.ask(ctx, answerWithin, busName, busPath, busName+".GetId").Store(&bus); err != nil {
		return "", err
	}
	return bus + m.owner, nil
}

package nmstate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
)

// checkpoints lists the checkpoints that are alive.
func (m *systemBus) checkpoints(ctx context.Context) ([]backend.Checkpoint, error) {
	var paths []dbus.ObjectPath
	if err := m.property(ctx, nmPath, nmName, "Checkpoints", &paths); err != nil {
		return nil, fmt.Errorf("listing the checkpoints: %w", err)
	}
	found := make([]backend.Checkpoint, 0, len(paths))
	for _, path := range paths {
		found = append(found, backend.Checkpoint(path))
	}
	return found, nil
}

// pending lists the checkpoints with what is to be known about them.
func (m *systemBus) pending(ctx context.Context) ([]backend.Pending, error) {
	checkpoints, err := m.checkpoints(ctx)
	if err != nil {
		return nil, err
	}
	var found []backend.Pending
	for _, checkpoint := range checkpoints {
		one, err := m.described(ctx, checkpoint)
		if errors.Is(err, backend.ErrGone) {
			continue // It ended since it was listed.
		}
		if err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	return found, nil
}

func (m *systemBus) described(ctx context.Context, checkpoint backend.Checkpoint) (backend.Pending, error) {
	var createdMilliseconds int64
	var timeoutSeconds uint32
	path := dbus.ObjectPath(checkpoint)
	err := errors.Join(
		m.property(ctx, path, checkpointName, "Created", &createdMilliseconds),
		m.property(ctx, path, checkpointName, "RollbackTimeout", &timeoutSeconds),
	)
	if err != nil {
		return backend.Pending{}, fmt.Errorf("reading checkpoint %s: %w", checkpoint, err)
	}
	return backend.Pending{
		Checkpoint:    checkpoint,
		CreatedBoot:   time.Duration(createdMilliseconds) * time.Millisecond,
		RollbackAfter: time.Duration(timeoutSeconds) * time.Second,
	}, nil
}

// named refuses what cannot be one checkpoint's path: NetworkManager takes "/"
// for all of them.
func named(checkpoint backend.Checkpoint) error {
	if !strings.HasPrefix(string(checkpoint), checkpointPrefix) || !dbus.ObjectPath(checkpoint).IsValid() {
		return fmt.Errorf("%w: %q is not the name of a checkpoint", backend.ErrGone, checkpoint)
	}
	return nil
}

func (m *systemBus) destroy(ctx context.Context, checkpoint backend.Checkpoint) error {
	return m.call(ctx, answerWithin, nmPath, nmName+".CheckpointDestroy", dbus.ObjectPath(checkpoint)).Err
}

// rollback undoes what happened since the checkpoint, and tells of devices for
// which NetworkManager could not.
func (m *systemBus) rollback(ctx context.Context, checkpoint backend.Checkpoint) error {
	var results map[string]uint32
	call := m.call(ctx, rollbackWithin, nmPath, nmName+".CheckpointRollback", dbus.ObjectPath(checkpoint))
	if call.Err != nil {
		return call.Err
	}
	if err := call.Store(&results); err != nil {
		return fmt.Errorf("reading NetworkManager's answer: %w", err)
	}
	var failed []string
	for device, result := range results {
		if result != 0 {
			failed = append(failed, m.deviceName(ctx, device)+" "+rollbackResult(result))
		}
	}
	if len(failed) == 0 {
		return nil
	}
	slices.Sort(failed)
	return fmt.Errorf("NetworkManager took back what it could, but %s", strings.Join(failed, ", "))
}

// deviceName is a device's interface name, or its path where it has none now.
func (m *systemBus) deviceName(ctx context.Context, path string) string {
	var name string
	if err := m.property(ctx, dbus.ObjectPath(path), deviceName, "Interface", &name); err != nil || name == "" {
		return path
	}
	return name
}

// rollbackResult says NMRollbackResult in words.
func rollbackResult(result uint32) string {
	switch result {
	case 1:
		return "is not there any more"
	case 2:
		return "is unmanaged now"
	case 3:
		return "failed"
	}
	return fmt.Sprintf("ended with result %d", result)
}

// watch sends on the channel whenever the list of checkpoints may have
// changed. It is a hint: the list is to be read again.
func (m *systemBus) watch(ctx context.Context) (<-chan *dbus.Signal, error) {
	for _, rule := range []string{
		fmt.Sprintf("type='signal',sender='%s',path='%s',interface='%s',member='PropertiesChanged'", m.owner, nmPath, propertiesName),
		fmt.Sprintf("type='signal',sender='%s',interface='%s',member='StateChanged'", m.owner, deviceName),
	} {
		if err := m.ask(ctx, answerWithin, busName, busPath, busName+".AddMatch", rule).Err; err != nil {
			return nil, err
		}
	}
	// A device changes its state some ten times in an apply. What does not fit is
	// lost, and looked for at the end.
	changes := make(chan *dbus.Signal, 1024)
	m.conn.Signal(changes)
	return changes, nil
}

// aboutCheckpoints tells whether a signal may change the list.
func aboutCheckpoints(signal *dbus.Signal) bool {
	if signal == nil || len(signal.Body) < 2 {
		return true
	}
	if signal.Name == deviceName+".StateChanged" {
		return false
	}
	changed, ok := signal.Body[1].(map[string]dbus.Variant)
	if !ok {
		return true
	}
	_, said := changed["Checkpoints"]
	return said
}

package nmstate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/godbus/dbus/v5"

	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// noScripts has nmstate look for scripts where none can be. It removes those of an
// interface that is to be absent at once, and a rollback does not bring them back.
const noScripts = "NMSTATE_NM_DISPATCH_DIR=/dev/null"

// scripts reads nmstate's scripts in ScriptsDir. A folder that is not there has none.
func (d disk) scripts() (profiles.Files, error) {
	found := profiles.Files{}
	entries, err := os.ReadDir(d.at(profiles.ScriptsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the dispatcher's scripts: %w", err)
	}
	for _, entry := range entries {
		if !state.IsScriptFile(entry.Name()) {
			continue
		}
		if err := d.readInto(found, path.Join(profiles.ScriptsDir, entry.Name())); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// withScripts tells a report's scripts as they are on disk. nmstate tells those as well
// that are not as it writes them, and none of an interface with a dash in its name.
func (d disk) withScripts(report state.State) (state.State, error) {
	found, err := d.scripts()
	if err != nil {
		return state.State{}, err
	}
	return report.WithScripts(found.Texts()), nil
}

// keepExternal is NetworkManager's flag of Reapply that leaves addresses and routes of
// others alone.
const keepExternal = uint32(0x1)

// reapply gives a device the settings that it has.
func (m *systemBus) reapply(ctx context.Context, device dbus.ObjectPath) error {
	const asItIs = uint64(0)
	return m.call(ctx, answerWithin, device, deviceName+".Reapply", map[string]map[string]dbus.Variant{}, asItIs, keepExternal).Err
}

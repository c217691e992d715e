package profiles

import "github.com/nmstate/kubernetes-nmstate/handler/state"

// OpenVSwitchBack puts what a change has written into Open vSwitch's database
// back. had is what that held before.
func OpenVSwitchBack(had state.Columns, now Snapshot, change Change) []Action {
	if keys := change.OpenVSwitch.Back(had, now.OpenVSwitch); len(keys) > 0 {
		return []Action{{Verb: SetOpenVSwitch, Keys: keys}}
	}
	return nil
}

// OpenVSwitchDifferences are the keys that a node which was taken back has
// otherwise than before, one line each.
func OpenVSwitchDifferences(had state.Columns, now Snapshot, change Change) []string {
	var lines []string
	for _, name := range change.OpenVSwitch.Back(had, now.OpenVSwitch).Names() {
		lines = append(lines, "Open vSwitch's "+name+" is not as it was")
	}
	return lines
}

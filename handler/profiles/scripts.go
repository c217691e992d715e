package profiles

import (
	"maps"
	"path"
	"slices"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// ScriptsDir holds the scripts that NetworkManager's dispatcher runs, nmstate's
// among them.
const ScriptsDir = "/etc/NetworkManager/dispatcher.d"

// scriptMode is what nmstate gives a script. The dispatcher runs only what no other
// may write.
const scriptMode = 0o744

// Scripts are files of ScriptsDir as they are to be; nil for one that is not to be there.
type Scripts map[string]*File

// ScriptsOf are the scripts that a change asks for. originals are those from before the
// policies that leave: what they had changed goes back to these bytes. Of an interface
// that such a policy had made and that goes, only these do.
func ScriptsOf(change state.State, originals Scripts, undo bool) Scripts {
	wanted := Scripts{}
	for name, said := range change.Scripts() {
		one, _ := change.Interface(name)
		for when, script := range said {
			at := path.Join(ScriptsDir, state.ScriptFile(name, when))
			original, known := originals[at]
			switch {
			case known:
				wanted[at] = original
			case undo && one.IsAbsent():
			case script == "":
				wanted[at] = nil
			default:
				wanted[at] = &File{Mode: scriptMode, Content: []byte(state.ScriptContent(name, when, script))}
			}
		}
	}
	return wanted
}

// Originals are the scripts of before for those that a desired state names: as they are
// known, or else as they were before the change.
func (s Snapshot) Originals(known Scripts, desired state.State) Scripts {
	kept := Scripts{}
	for at := range ScriptsOf(desired, nil, false) {
		original, is := known[at]
		if !is && s.Scripts == nil {
			continue // Nobody has looked.
		}
		if file, there := s.Scripts[at]; !is && there {
			original = &file
		}
		kept[at] = original
	}
	return kept
}

// Without are those scripts that a desired state does not name.
func (s Scripts) Without(desired state.State) Scripts {
	left := maps.Clone(s)
	for at := range ScriptsOf(desired, nil, false) {
		delete(left, at)
	}
	return left
}

// forth puts the scripts there that are not.
func (s Scripts) forth(now Snapshot) []Action {
	var actions []Action
	for _, at := range s.Left(now) {
		actions = append(actions, put(at, s[at]))
	}
	return actions
}

// Left are those that are not there as they are to be.
func (s Scripts) Left(now Snapshot) []string {
	var left []string
	for _, at := range slices.Sorted(maps.Keys(s)) {
		if !s.there(at, now) {
			left = append(left, at)
		}
	}
	return left
}

func (s Scripts) there(at string, now Snapshot) bool {
	file, is := now.Scripts[at]
	wanted := s[at]
	return is == (wanted != nil) && (!is || file.equal(*wanted))
}

func put(at string, file *File) Action {
	if file == nil {
		return Action{Verb: Remove, Path: at}
	}
	return Action{Verb: Write, Path: at, File: *file}
}

// Runs are the devices whose script for activation a change brings.
func (s Scripts) Runs(before Snapshot) []string {
	var devices []string
	for _, at := range s.Left(before) {
		if name, is := state.ActivationOf(path.Base(at)); is && s[at] != nil {
			devices = append(devices, name)
		}
	}
	return devices
}

// ScriptsBack puts back what a change has written into ScriptsDir, byte for byte. What
// somebody else wrote there meanwhile stays.
func ScriptsBack(before, now Snapshot, change Change) []Action {
	var actions []Action
	for _, at := range notBack(before, now, change) {
		var was *File
		if file, had := before.Scripts[at]; had {
			was = &file
		}
		actions = append(actions, put(at, was))
	}
	return actions
}

// ScriptDifferences are the scripts that a node which was taken back still has of the
// change, one line each.
func ScriptDifferences(before, now Snapshot, change Change) []string {
	var lines []string
	for _, at := range notBack(before, now, change) {
		lines = append(lines, at+" is not as it was")
	}
	return lines
}

func notBack(before, now Snapshot, change Change) []string {
	if before.Scripts == nil || now.Scripts == nil {
		return nil
	}
	return slices.DeleteFunc(change.Scripts.Left(before), func(at string) bool { return !change.Scripts.there(at, now) })
}

// Texts are what the scripts say, as a report tells it.
func (f Files) Texts() state.Scripts {
	told := state.Scripts{}
	for at, file := range f {
		const ownerRuns, othersWrite = 0o100, 0o022
		told.Add(path.Base(at), string(file.Content), file.Mode&ownerRuns != 0 && file.Mode&othersWrite == 0)
	}
	return told
}

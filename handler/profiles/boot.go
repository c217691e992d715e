package profiles

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// preferred has the next boot take what the trial has made permanent, where it would take
// something else.
func preferred(before Snapshot, trial *Trial, now Snapshot) []Action {
	return append(standIns(before, trial, now), raised(before, trial, now)...)
}

// namespace of the UUIDs of stand-ins: a random one.
var namespace = uuid.MustParse("6f1f0c52-93c5-4c7b-9d0e-0a3f5a4d7a11")

func standInOf(profile string) string {
	return uuid.NewSHA1(namespace, []byte(profile)).String()
}

// isStandInOf tells whether the profile stands in for one of those.
func (k keyfile) isStandInOf(uuids []string) bool {
	return slices.ContainsFunc(uuids, func(u string) bool { return standInOf(u) == k.uuid() })
}

// standIns are for profiles that something writes into RunDir at each boot (netplan, for
// one). It hides with them what is on disk under their UUIDs, so that the boot would bring
// a NIC up as before the change, maybe where no API server is. It takes the stand-in, for
// its priority; until then that is not active. One that is there is written with each
// change of its profile.
//
//	/run  netplan-eth2  U   priority 0   written at each boot
//	/etc  netplan-eth2  U   priority 0   hidden by it
//	/etc  its stand-in  U'  priority 1   what the boot activates
//
// A controller has none: its ports name it by its UUID.
func standIns(before Snapshot, trial *Trial, now Snapshot) []Action {
	inRun, onDisk := before.profiles(RunDir), now.profiles(DiskDir)
	var actions []Action
	for _, u := range Touched(before, trial, now) {
		p, saved := onDisk[u]
		if !saved || p.isController() {
			continue
		}
		stand, had := onDisk[standInOf(u)]
		was, there := inRun[u]
		priority := p.priority()
		switch { // nmstate forgets priorities.
		case there && was.shadows() == "":
			priority = max(priority, was.priority()) + 1
		case had:
			priority = max(priority+1, stand.priority())
		default:
			continue
		}
		at := path.Join(DiskDir, strings.TrimSuffix(path.Base(p.path), ".nmconnection")+"-"+standInOf(u)[:8]+".nmconnection")
		actions = append(actions, now.written(p, at, map[string]string{
			"id": p.name() + " (kubernetes-nmstate)", "uuid": standInOf(u), priorityKey: strconv.Itoa(priority),
		})...)
	}
	return actions
}

// raised are profiles that the next boot could take another one for, of no lower priority:
// one for all NICs, which is still active on others, and of two with the same priority
// NetworkManager takes what was active last; and one that is written into RunDir again, of
// whose stand-in nmstate has forgotten the priority.
func raised(before Snapshot, trial *Trial, now Snapshot) []Action {
	had, inRun, onDisk := before.current(), before.profiles(RunDir), now.profiles(DiskDir)
	var actions []Action
	for _, u := range Touched(before, trial, now) {
		p, saved := onDisk[u]
		if !saved || p.device() == "" {
			continue
		}
		d, _ := before.device(p.device())
		least := p.priority()
		for _, other := range had {
			forAll := other.device() == "" && other.kind() == p.kind() && (other.isForMany() || other.uuid() == d.Profile)
			_, again := inRun[other.uuid()]
			if forAll || again && p.uuid() == standInOf(other.uuid()) {
				least = max(least, other.priority()+1)
			}
		}
		if least > p.priority() {
			actions = append(actions, now.written(p, p.path, map[string]string{priorityKey: strconv.Itoa(least)})...)
		}
	}
	return actions
}

// isForMany tells whether the profile may be active on several devices at once
// (NetworkManager's NMConnectionMultiConnect).
func (k keyfile) isForMany() bool {
	return slices.Contains([]string{"2", "3"}, k["connection"]["multi-connect"])
}

const priorityKey = "autoconnect-priority"

func (k keyfile) priority() int {
	priority, _ := strconv.Atoi(k["connection"][priorityKey]) // Without it, 0.
	return priority
}

// written is a profile's file with other values in its section [connection], read by
// NetworkManager. What is active stays as it is.
func (s Snapshot) written(p profile, at string, values map[string]string) []Action {
	var lines []string
	inside := false
	for line := range strings.Lines(string(s.Files[p.path].Content)) {
		section, begins := strings.CutPrefix(strings.TrimSpace(line), "[")
		if begins {
			inside = strings.TrimSuffix(section, "]") == "connection"
		}
		key, _, _ := strings.Cut(line, "=")
		if _, other := values[strings.TrimSpace(key)]; !inside || !other {
			lines = append(lines, line)
		}
		if begins && inside {
			for _, key := range slices.Sorted(maps.Keys(values)) {
				lines = append(lines, key+"="+values[key]+"\n")
			}
		}
	}
	file := File{Mode: s.Files[p.path].Mode, Content: []byte(strings.Join(lines, ""))}
	return []Action{{Verb: Write, Path: at, File: file}, {Verb: Reload, Paths: []string{at}}}
}

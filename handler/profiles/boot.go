package profiles

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// preferred has the next boot take what the trial has touched and made permanent, where it would take
// something else, and gives profiles back what nmstate has forgotten of them.
func preferred(before Snapshot, touched []string, now Snapshot) []Action {
	return append(standIns(before, touched, now), completed(before, touched, now)...)
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
func standIns(before Snapshot, touched []string, now Snapshot) []Action {
	were, inRun, onDisk := before.current(), before.profiles(RunDir), now.profiles(DiskDir)
	var actions []Action
	for _, u := range touched {
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
		is := forgotten(were[u].keyfile, p.keyfile)
		is.set("connection", "id", p.name()+" (kubernetes-nmstate)")
		is.set("connection", "uuid", standInOf(u))
		is.set("connection", priorityKey, strconv.Itoa(priority))
		actions = append(actions, now.written(p, at, is)...)
	}
	return actions
}

// completed are profiles with what nmstate has forgotten of them, and with a higher
// priority where the next boot could take another one: one for all NICs, which is still
// active on others (of two with the same priority NetworkManager takes what was active
// last), or one that is written into RunDir again.
func completed(before Snapshot, touched []string, now Snapshot) []Action {
	were, inRun, onDisk := before.current(), before.profiles(RunDir), now.profiles(DiskDir)
	var actions []Action
	for _, u := range touched {
		p, saved := onDisk[u]
		if !saved {
			continue
		}
		is := forgotten(were[u].keyfile, p.keyfile)
		priority := p.priority()
		if _, had := is["connection"][priorityKey]; had {
			priority = is.priority()
		}
		d, _ := before.device(p.device())
		for _, other := range were {
			forAll := other.device() == "" && other.kind() == p.kind() && (other.isForMany() || other.uuid() == d.Profile)
			_, again := inRun[other.uuid()]
			if p.device() != "" && (forAll || again && p.uuid() == standInOf(other.uuid())) {
				priority = max(priority, other.priority()+1)
			}
		}
		if priority != p.priority() {
			is.set("connection", priorityKey, strconv.Itoa(priority))
		}
		if len(is) > 0 {
			actions = append(actions, now.written(p, p.path, is)...)
		}
	}
	return actions
}

// forgotten is what nmstate, which has no word for it, changes in a profile whatever a
// policy says: it drops the priority, and waits for DHCP without end. Where DHCP itself is
// as before, its time is the administrator's.
func forgotten(had, is keyfile) keyfile {
	const timeout, endless = "dhcp-timeout", "2147483647"
	back := keyfile{}
	if was, said := had["connection"][priorityKey]; said && is["connection"][priorityKey] == "" {
		back.set("connection", priorityKey, was)
	}
	for _, family := range []string{"ipv4", "ipv6"} {
		was, said := had[family][timeout]
		if said && was != endless && is[family][timeout] == endless && had[family]["method"] == is[family]["method"] {
			back.set(family, timeout, was)
		}
	}
	return back
}

func (k keyfile) set(section, key, value string) {
	if k[section] == nil {
		k[section] = map[string]string{}
	}
	k[section][key] = value
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

// written is a profile's file with other values, read by NetworkManager. What is active
// stays as it is.
func (s Snapshot) written(p profile, at string, values keyfile) []Action {
	var lines []string
	section := ""
	for line := range strings.Lines(string(s.Files[p.path].Content)) {
		name, begins := strings.CutPrefix(strings.TrimSpace(line), "[")
		if begins {
			section = strings.TrimSuffix(name, "]")
		}
		key, _, _ := strings.Cut(line, "=")
		if _, other := values[section][strings.TrimSpace(key)]; !other {
			lines = append(lines, line)
		}
		if begins {
			for _, key := range slices.Sorted(maps.Keys(values[section])) {
				lines = append(lines, key+"="+values[section][key]+"\n")
			}
		}
	}
	file := File{Mode: s.Files[p.path].Mode, Content: []byte(strings.Join(lines, ""))}
	return []Action{{Verb: Write, Path: at, File: file}, {Verb: Reload, Paths: []string{at}}}
}

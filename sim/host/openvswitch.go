package host

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

const (
	// openVSwitchFile is Open vSwitch's database. It is of no concern to
	// NetworkManager and its checkpoints.
	openVSwitchFile = "/etc/openvswitch/conf.db"
	// mappingsKey holds OVN's bridge mappings, which nmstate shows in a section of
	// their own.
	mappingsKey = "ovn-bridge-mappings"
)

// openVSwitch is what the database holds. Every node has one; mostly it is empty.
func (h *Host) openVSwitch() state.Columns {
	found := state.Columns{"external_ids": {}, "other_config": {}}
	if file, there := h.files.disk[openVSwitchFile]; there {
		if err := json.Unmarshal(file.Content, &found); err != nil {
			panic(fmt.Sprintf("the database of Open vSwitch: %v", err))
		}
	}
	return found
}

// writeOpenVSwitch is on the disk for certain when it returns. No kernel and no
// NetworkManager tells the watcher.
func (h *Host) writeOpenVSwitch(keys state.Keys) {
	defer h.revise()
	columns, count := h.openVSwitch(), 0
	for column, values := range keys {
		for key, value := range values {
			if value == nil {
				delete(columns[column], key)
			} else {
				columns[column][key] = *value
			}
		}
	}
	for _, values := range columns {
		count += len(values)
	}
	if count == 0 {
		h.remove(openVSwitchFile)
		delete(h.files.durable, openVSwitchFile)
		return
	}
	content, err := json.Marshal(columns)
	if err != nil {
		panic(fmt.Sprintf("the database of Open vSwitch: %v", err))
	}
	file := profiles.File{Mode: 0o640, Content: content}
	if h.files.durable == nil {
		h.files.durable = profiles.Files{}
	}
	h.files.durable[openVSwitchFile] = file
	h.write(openVSwitchFile, file)
}

// showOpenVSwitch is what nmstate reports of it. An empty database is left out.
func (h *Host) showOpenVSwitch(document tree) {
	if _, there := h.files.disk[openVSwitchFile]; !there {
		return
	}
	columns := h.openVSwitch()
	shown := tree{}
	for column, values := range columns {
		keys := tree{}
		for key, value := range values {
			if key != mappingsKey {
				keys[key] = value
			}
		}
		shown[column] = keys
	}
	document["ovs-db"] = shown
	all := strings.Split(columns["external_ids"][mappingsKey], ",")
	slices.Sort(all)
	var mappings []any
	for _, one := range all {
		if localnet, bridge, found := strings.Cut(one, ":"); found {
			mappings = append(mappings, tree{"localnet": localnet, "bridge": bridge})
		}
	}
	if len(mappings) > 0 {
		document["ovn"] = tree{"bridge-mappings": mappings}
	}
}

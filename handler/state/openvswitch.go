package state

import (
	"maps"
	"slices"
	"strings"
)

const (
	externalIDs = "external_ids"
	otherConfig = "other_config"
	// mappingsKey of external_ids holds OVN's bridge mappings, which a state
	// has in a section of their own.
	mappingsKey = "ovn-bridge-mappings"
)

// Columns are what Open vSwitch's database holds for the node as a whole: the
// values of its columns external_ids and other_config, by their keys. Nil: there
// is no such database.
type Columns map[string]map[string]string

// Keys are to be written into Columns; one with nil is to be taken away.
type Keys map[string]map[string]*string

// OpenVSwitch is what a state asks of Columns: ovs-db and ovn.
type OpenVSwitch struct {
	keys Keys
	// purged are the columns that are to have nothing but OVN's mappings.
	purged []string
	// bridges of OVN by localnet; one with nil is to go.
	bridges map[string]*string
}

// OpenVSwitch is what the state asks of Open vSwitch's database, in nmstate's
// meaning: null takes a key away, and an empty column, or none at all, everything.
func (s State) OpenVSwitch() OpenVSwitch {
	asked := OpenVSwitch{keys: Keys{}, bridges: map[string]*string{}}
	if db, said := s.tree["ovs-db"].(map[string]any); said {
		for _, column := range []string{externalIDs, otherConfig} {
			values, named := db[column].(map[string]any)
			switch {
			case len(values) > 0:
				asked.keys[column] = map[string]*string{}
			case named, db[externalIDs] == nil && db[otherConfig] == nil:
				asked.purged = append(asked.purged, column)
			}
			for key, value := range values {
				asked.keys[column][key] = textOrNil(value)
			}
		}
	}
	for _, mapping := range objects(object(s.tree["ovn"])["bridge-mappings"]) {
		bridge := mapping["bridge"]
		if text(mapping["state"]) == "absent" {
			bridge = nil
		}
		asked.bridges[text(mapping["localnet"])] = textOrNil(bridge)
	}
	return asked
}

func textOrNil(value any) *string {
	if value == nil {
		return nil
	}
	said := text(value)
	return &said
}

// IsEmpty tells that the state does not speak of the database.
func (o OpenVSwitch) IsEmpty() bool { return len(o.keys)+len(o.purged)+len(o.bridges) == 0 }

// Forth are the keys to write into a database that holds now, for it to hold
// what is asked.
func (o OpenVSwitch) Forth(now Columns) Keys {
	write := Keys{}
	for _, column := range o.purged {
		for key := range now[column] {
			if column != externalIDs || key != mappingsKey {
				write.want(now, column, key, nil)
			}
		}
	}
	for column, keys := range o.keys {
		for key, value := range keys {
			write.want(now, column, key, value)
		}
	}
	if len(o.bridges) > 0 {
		write.want(now, externalIDs, mappingsKey, o.mappings(now))
	}
	return write
}

// mappings are what is asked, with the others that there are now.
func (o OpenVSwitch) mappings(now Columns) *string {
	bridges := map[string]string{}
	for one := range strings.SplitSeq(now[externalIDs][mappingsKey], ",") {
		if localnet, bridge, found := strings.Cut(one, ":"); found {
			bridges[localnet] = bridge
		}
	}
	for localnet, bridge := range o.bridges {
		if bridge == nil {
			delete(bridges, localnet)
		} else {
			bridges[localnet] = *bridge
		}
	}
	if len(bridges) == 0 {
		return nil
	}
	var all []string
	for _, localnet := range slices.Sorted(maps.Keys(bridges)) {
		all = append(all, localnet+":"+bridges[localnet])
	}
	joined := strings.Join(all, ",")
	return &joined
}

// Back are the keys to write into a database that holds now, for it to hold of
// what Forth may have written what it held before. Other keys are others'. A
// database that nobody has looked into before was not written to.
func (o OpenVSwitch) Back(before, now Columns) Keys {
	write := Keys{}
	if before == nil {
		return write
	}
	restore := func(column, key string) {
		if value, had := before[column][key]; had {
			write.want(now, column, key, &value)
		} else {
			write.want(now, column, key, nil)
		}
	}
	for _, column := range o.purged {
		for key := range before[column] {
			restore(column, key)
		}
	}
	for column, keys := range o.keys {
		for key := range keys {
			restore(column, key)
		}
	}
	if len(o.bridges) > 0 {
		restore(externalIDs, mappingsKey)
	}
	return write
}

// want adds a key, unless now has it as it is to be.
func (k Keys) want(now Columns, column, key string, value *string) {
	has, there := now[column][key]
	if there == (value != nil) && (!there || has == *value) {
		return
	}
	if k[column] == nil {
		k[column] = map[string]*string{}
	}
	k[column][key] = value
}

// Names of the keys, each with its column, sorted.
func (k Keys) Names() []string {
	var names []string
	for column, keys := range k {
		for key := range keys {
			names = append(names, column+":"+key)
		}
	}
	slices.Sort(names)
	return names
}

// Columns are what a report of the node says of Open vSwitch's database.
func (s State) Columns() Columns {
	db, said := s.tree["ovs-db"].(map[string]any)
	if !said {
		return nil
	}
	found := Columns{}
	for _, column := range []string{externalIDs, otherConfig} {
		found[column] = map[string]string{}
		for key, value := range object(db[column]) {
			found[column][key] = text(value)
		}
	}
	asked := OpenVSwitch{bridges: s.OpenVSwitch().bridges}
	if mappings := asked.mappings(nil); mappings != nil {
		found[externalIDs][mappingsKey] = *mappings
	}
	return found
}

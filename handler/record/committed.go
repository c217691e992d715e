package record

import (
	"slices"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// committed is the record once the node has what the entry wants. It was not applied where
// policies could not be taken off.
func (e Ended) committed(record journal.Record, applied bool) (journal.Record, error) {
	var err error
	// Without originals nothing of it is ever undone: it stays, as with onDelete: Retain.
	record.Originals, record.Stays, err = e.beside(record, applied)
	record.Scripts = e.scripts(record.Scripts)
	hash := e.Outcome.Change.Hash
	record.Committed = &journal.Committed{Hash: hash, Sources: e.Entry.Sources, Desired: e.Entry.Desired}
	if !IsKept(record, hash) {
		record.Kept = nil
	}
	return record, err
}

// beside what is committed now are what was there before it, and what stays beside it.
func (e Ended) beside(record journal.Record, applied bool) (originals, stays []byte, err error) {
	var from state.State
	if record.Committed != nil {
		if from, err = state.Parse(record.Committed.Desired); err != nil {
			return nil, nil, err
		}
	}
	desired, err := state.Parse(e.Entry.Desired)
	if err != nil {
		return nil, nil, err
	}
	before, err := state.Parse(e.Entry.Before)
	if err != nil {
		return nil, nil, err
	}
	known, err := state.ParseOriginals(record.Originals)
	if err != nil {
		return nil, nil, err
	}
	stayed, err := Stays(record)
	if err != nil {
		return nil, nil, err
	}
	if next := state.Staying(stayed, from, desired, !applied); !next.IsEmpty() {
		stays = next.JSON()
	}
	if next := known.Remember(from, desired, before, e.retained(record)); !next.IsEmpty() {
		originals = next.JSON()
	}
	return originals, stays, nil
}

// scripts of before what is committed now.
func (e Ended) scripts(known profiles.Scripts) profiles.Scripts {
	desired, err := state.Parse(e.Entry.Desired)
	if err != nil {
		return known // beside has said so.
	}
	var before profiles.Snapshot
	if e.Entry.Profiles != nil {
		before = *e.Entry.Profiles
	}
	return before.Originals(known, desired)
}

// retained are the paths of the policies that leave without being undone: what they had
// set stays, also where another policy still sets it too.
func (e Ended) retained(record journal.Record) []state.Path {
	var paths []state.Path
	leaving, kept := e.leaving(record), IsKept(record, e.Outcome.Change.Hash)
	for _, source := range Sources(record) {
		stays := source.OnDelete != v1.OnDeleteRevert || kept
		if stays && slices.Contains(leaving, source.Policy) {
			paths = append(paths, state.ParsePaths(source.Paths)...)
		}
	}
	return paths
}

// leaving are the policies that the transaction takes off the node.
func (e Ended) leaving(record journal.Record) []string {
	var names []string
	for _, source := range Sources(record) {
		if !slices.ContainsFunc(e.Entry.Sources, func(s v1.DesiredSource) bool { return s.Policy == source.Policy }) {
			names = append(names, source.Policy)
		}
	}
	return names
}

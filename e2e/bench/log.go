//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

// line is one line of the handler's log.
type line struct {
	Time    time.Time `json:"ts"`
	Message string    `json:"msg"`
	Phase   string    `json:"phase"`
}

// transaction is the message of a line with a phase.
const transaction = "transaction"

// logSince reads what the node's handler has said since a time.
func logSince(n *lab.Node, since time.Time) ([]line, error) {
	file, err := os.Open(n.LogPath("handler"))
	if err != nil {
		return nil, fmt.Errorf("reading the handler's log: %w", err)
	}
	defer func() { _ = file.Close() }()
	var all []line
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var l line
		// What is no JSON is the crash of a handler that was killed.
		if json.Unmarshal(lines.Bytes(), &l) == nil && !l.Time.Before(since) {
			all = append(all, l)
		}
	}
	return all, lines.Err()
}

// phaseAt is when the first transaction since then came into the phase; zero
// if none did.
func phaseAt(all []line, phase string) time.Time {
	for _, l := range all {
		if l.Message == transaction && l.Phase == phase {
			return l.Time
		}
	}
	return time.Time{}
}

// countPhase is how often a transaction came into the phase.
func countPhase(all []line, phase string) int {
	n := 0
	for _, l := range all {
		if l.Message == transaction && l.Phase == phase {
			n++
		}
	}
	return n
}

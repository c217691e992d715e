package idle

import (
	"fmt"
	"strings"
)

// What a status holds is bounded, whatever the node and its network say.
const (
	// MaxMessage is the most that a message may hold, in bytes.
	MaxMessage = 1024
	// maxValue is the same for a value in a list of differences.
	maxValue = 256
	// maxLines is how many lines a list has.
	maxLines = 20
)

// Short is a text cut to so many bytes at the most.
func Short(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-3], "") + "..."
}

// Message is a text as the status tells it, in one line.
func Message(text string) string { return Short(strings.Join(strings.Fields(text), " "), MaxMessage) }

// Value is a value as the status tells it.
func Value(text string) string { return Short(text, maxValue) }

// Lines are the first ones, and how many more there are: a message stays readable when a
// whole table is lost.
func Lines(all []string) []string {
	if len(all) <= maxLines {
		return all
	}
	return append(all[:maxLines:maxLines], fmt.Sprintf("and %d more", len(all)-maxLines))
}

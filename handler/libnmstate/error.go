package nmstate

import "errors"

// ErrNotBuilt is what every call returns in a program built without the
// library.
var ErrNotBuilt = errors.New("built without libnmstate: build with `make build`, or as hack/libnmstate.sh --env says")

// Error is what libnmstate refused or failed at.
type Error struct {
	// Kind is nmstate's own: "InvalidArgument", "VerificationError",
	// "PluginFailure", "NotSupportedError", ... "Bug" is used for plain
	// conditions too (no D-Bus, an expired checkpoint); the message then
	// begins with the condition's name.
	Kind string
	// Message is nmstate's text, which may have several lines.
	Message string
}

// Error is the kind and the message.
func (e *Error) Error() string { return e.Kind + ": " + e.Message }

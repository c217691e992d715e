package nmstate

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
)

// failure is an error of nmstate as it crosses process borders.
type failure struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

// conditions are what nmstate reports under the kind "Bug", recognized by how
// the message begins (nmstate 2.2.62, nm/error.rs).
var conditions = []struct {
	prefix string
	means  error
}{
	{"DbusConnectionError", backend.ErrUnavailable},
	{"CheckpointConflict", backend.ErrBusy},
	{"NotFound: Not active checkpoints", backend.ErrGone},
}

// invalid are the kinds that say that the desired state cannot be.
var invalid = map[string]bool{
	"InvalidArgument":           true,
	"KernelIntegerRoundedError": true,
	"NotImplementedError":       true,
	"NotSupportedError":         true,
	"PolicyError":               true,
}

// classified makes an error of a failure that came before anything was
// changed. It wraps the port's error that fits.
func classified(f failure) error {
	if invalid[f.Kind] {
		return fmt.Errorf("%w: %s", backend.ErrInvalid, readable(f))
	}
	if f.Kind == "Bug" {
		for _, condition := range conditions {
			if strings.HasPrefix(f.Message, condition.prefix) {
				return fmt.Errorf("%w: %s", condition.means, readable(f))
			}
		}
	}
	return unclassified(f)
}

// unclassified makes an error that wraps nothing.
func unclassified(f failure) error {
	if f.Kind == "" || f.Kind == "Bug" {
		return errors.New(readable(f))
	}
	return errors.New(f.Kind + ": " + readable(f))
}

// rustName is the Rust name that nmstate puts before NetworkManager's words:
// `Device(CreationFailed): ...`, `Manager(Unknown("x")):...`.
var rustName = regexp.MustCompile(`^[A-Z][A-Za-z]*(\([A-Za-z0-9_"().]*\))?: ?`)

// parsing are the steps of nmstate's parser, which tell a person nothing, and
// the place in a document that nobody sees.
var parsing = regexp.MustCompile(`^(Error on converting string to rust \w+: )?(\w+: )?(Invalid YAML string: |Invalid property : )|( at line \d+ column \d+)$`)

// hints say what to do about what nmstate and NetworkManager say, where their words do
// not, by how these begin.
var hints = []struct{ begins, hint string }{
	// libnm-core's nm_config_set_global_dns.
	{"Global DNS configuration already set via configuration file", "name servers in a file of this node's /etc/NetworkManager, section [global-dns-domain-*], go before any policy's: " +
		"take them out there, or dns-resolver out of the policy"},
	{"Connection(InvalidProperty):ipv4.dns: this property is not allowed for 'method=disabled'", withoutIP},
	{"Connection(InvalidProperty):ipv6.dns: this property is not allowed for 'method=disabled'", withoutIP},
	// nmstate 2.2.62, nm_dbus/connection/route.rs: what it does not know is not wrapped.
	{"zvariant error: SignatureMismatch(", "the profile of an interface that the policy changes has a route with an attribute that nmstate cannot write, onlink or scope as a rule: " +
		"take it out of the profile (nmcli connection modify NAME -ipv4.routes ...; a gateway, ipv4.gateway, needs no onlink)"},
}

const withoutIP = "the interface's profile has name servers, and the policy takes its IP away: say in the policy's dns-resolver which ones the node is to have"

// readable is a message for people: one line, without Rust's names, and with a hint.
func readable(f failure) string {
	text := strings.Join(strings.Fields(f.Message), " ")
	if f.Kind == "Bug" {
		text = rustName.ReplaceAllString(text, "")
	}
	text = parsing.ReplaceAllString(text, "")
	if text == "" {
		return "nmstate failed without a word"
	}
	for _, known := range hints {
		if strings.HasPrefix(text, known.begins) {
			return text + ": " + known.hint
		}
	}
	return text
}

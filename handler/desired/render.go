package desired

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// maxRendering is the most that a policy's state may come to on a node, in bytes: the
// enactment has it twice, as it is and as it is committed.
const maxRendering = 512 << 10

// Rendering is a policy's state as it comes out on one node.
type Rendering struct {
	// State, and the same as a document.
	State    state.State
	Document v1.State
	// Hash identifies the state together with the policy's priority, since
	// either changes what the node's policies merge to.
	Hash string
	// Features of nmstate that the state uses, sorted.
	Features []string
}

// Render reads a desired state, with captures already resolved, and completes
// it for a node. The error names the key or value that nmstate would not
// understand, or the circle of interfaces that stand on each other; nothing of
// such a policy is applied.
//
// Ports of a linux bridge that is up and says nothing of their VLANs become
// trunks of all VLANs, where the node's kernel can filter them: what manifests
// for the older project rely on (api-contract).
func Render(raw []byte, priority int32, canFilterVLANs bool) (Rendering, error) {
	parsed, err := state.ParseDesired(raw)
	if err != nil {
		return Rendering{}, fmt.Errorf("reading spec.desiredState: %w", err)
	}
	tree := state.Canonical(parsed).Tree()
	if canFilterVLANs {
		addDefaultTrunks(tree)
	}
	rendered := state.FromTree(tree)
	if cycle := state.Cycle(rendered); cycle != "" {
		return Rendering{}, fmt.Errorf("reading spec.desiredState: interfaces stand on each other in a circle: %s", cycle)
	}
	document := rendered.JSON()
	if len(document) > maxRendering {
		return Rendering{}, fmt.Errorf("reading spec.desiredState: on this node it comes to %d bytes, and an enactment has room for %d: divide it into several policies",
			len(document), maxRendering)
	}
	return Rendering{
		State:    rendered,
		Document: v1.NewState(document),
		Hash:     renderingHash(rendered, priority),
		Features: features(tree),
	}, nil
}

func renderingHash(rendered state.State, priority int32) string {
	if priority == 0 {
		return rendered.Hash()
	}
	sum := sha256.Sum256([]byte(rendered.Hash() + " " + strconv.Itoa(int(priority))))
	return hex.EncodeToString(sum[:])
}

// addDefaultTrunks completes bridge ports without a `vlan` key.
func addDefaultTrunks(tree map[string]any) {
	for _, device := range objects(tree["interfaces"]) {
		if device["type"] != "linux-bridge" || device["state"] != "up" {
			continue
		}
		bridge, _ := device["bridge"].(map[string]any)
		for _, key := range []string{"port", "ports"} {
			for _, port := range objects(bridge[key]) {
				if _, said := port["vlan"]; !said {
					port["vlan"] = allVLANs()
				}
			}
		}
	}
}

func allVLANs() map[string]any {
	return map[string]any{
		"mode": "trunk",
		"trunk-tags": []any{map[string]any{
			"id-range": map[string]any{"min": 2, "max": 4094},
		}},
	}
}

func objects(value any) []map[string]any {
	items, _ := value.([]any)
	var found []map[string]any
	for _, item := range items {
		if tree, ok := item.(map[string]any); ok {
			found = append(found, tree)
		}
	}
	return found
}

// maxMessage is the most that a condition's message holds, in bytes.
const maxMessage = 1024

// oneLine makes a condition's message of an error's text, leaving room for
// what is said after it.
func oneLine(text string, room int) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	if len(text) <= maxMessage-room {
		return text
	}
	const cut = "..."
	end := maxMessage - room - len(cut)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + cut
}

package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// errNoCaptures is for the policy's author.
var errNoCaptures = errors.New("spec.capture: this handler cannot resolve captures, since it was built without libnmstate; write the values into spec.desiredState")

// capture renders a policy that has captures. What the enactment shows of this
// generation, for the same interfaces and values, is taken as it is.
func (r *Reconciler) capture(ctx context.Context, made *rendering, g *gathered, policy *v1.NodeNetworkConfigurationPolicy, before *v1.NodeNetworkConfigurationEnactmentStatus) (waiting string) {
	if before != nil && maps.Equal(before.Variables, made.variables) && slices.Equal(before.MatchedInterfaces, made.matched) {
		made.Rendering, made.err = desired.Render(before.DesiredState.Raw, policy.Spec.Priority, false)
		made.captured = before.CapturedStates
		if r.knowsClear(made, policy) {
			return ""
		}
	}
	if r.Captures == nil {
		made.err = errNoCaptures
		return ""
	}
	current, there, err := g.current()
	if err == nil && (g.filtersVLANs() == nil || !there) {
		return waitingForReport
	}
	if made.err = err; err == nil {
		made.err = r.resolve(ctx, made, g, policy, current)
	}
	made.open = made.open || errors.Is(err, errTruncated)
	return ""
}

// knowsClear finds the values of what a rendering of an earlier process refers to in the
// policy itself. A node with a new key has other references.
func (r *Reconciler) knowsClear(made *rendering, policy *v1.NodeNetworkConfigurationPolicy) bool {
	for _, one := range made.State.SecretReferences() {
		if one.Version = ""; !one.IsFromPolicy() {
			continue
		}
		if made.clear == nil {
			captures, err := desired.FillCaptures(policy.Spec.Capture, made.variables)
			if err != nil {
				return false
			}
			if _, err := r.expand(made, policy, captures); err != nil {
				return false
			}
		}
		if _, known := made.clear[one]; !known {
			return false
		}
	}
	return true
}

// maxCaptured is the most that the captured states of an enactment take, in bytes.
const maxCaptured = 128 << 10

// told are captured states as an enactment shows them: each within its share of the
// room. Without the helper nobody tells any.
func told(captured map[string]state.State, meta v1.CapturedStateMeta) map[string]v1.CapturedState {
	if len(captured) == 0 {
		return nil
	}
	shown := make(map[string]v1.CapturedState, len(captured))
	share := maxCaptured / len(captured)
	for name, value := range captured {
		one := v1.CapturedState{State: v1.NewState(value.JSON()), MetaInfo: meta}
		if len(one.State.Raw) > share {
			kept, truncated := desired.Cut(value, share)
			one.State, one.Truncated = v1.NewState(kept.JSON()), truncated
		}
		shown[name] = one
	}
	return shown
}

func (r *Reconciler) resolve(ctx context.Context, made *rendering, g *gathered, policy *v1.NodeNetworkConfigurationPolicy, current state.State) error {
	captures, err := desired.FillCaptures(policy.Spec.Capture, made.variables)
	if err != nil {
		return err
	}
	wanted, err := r.expand(made, policy, captures)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(map[string]any{"capture": captures, "desiredState": json.RawMessage(desired.CoverSecrets(wanted))})
	if err != nil {
		return fmt.Errorf("reading spec.capture: %w", err)
	}
	resolved, captured, err := r.Captures.Resolve(ctx, raw, current)
	if err != nil {
		return fmt.Errorf("resolving spec.capture: %w", err)
	}
	made.captured = told(captured, v1.CapturedStateMeta{Time: metav1.Time{Time: r.Clock.Now()}.Rfc3339Copy(), Version: "0"})
	made.Rendering, err = desired.Render(desired.UncoverSecrets(resolved.JSON(), wanted), policy.Spec.Priority, *g.filtersVLANs())
	return err
}

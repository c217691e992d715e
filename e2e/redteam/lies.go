package redteam

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// flood is how many objects a flood makes.
const flood = 100

// status writes a status of the thief's own enactment.
func status(patch string) func(context.Context, Thief) error {
	return func(ctx context.Context, t Thief) error {
		return t.Client.Status().Patch(ctx, t.enactment(t.Node), merge(`{"status":{`+patch+`}}`))
	}
}

// condition that is as it may be, with a message.
func condition(kind, message string) string {
	return `"conditions":[{"type":"` + kind + `","status":"True","reason":"Evil","message":"` + message +
		`","lastHeartbeatTime":"2026-01-02T03:04:05Z","lastTransitionTime":"2026-01-02T03:04:05Z"}]`
}

// lies are statuses that no handler writes. Those that a reader could not decode would
// stop everybody who lists enactments.
func lies() []Attempt {
	long := strings.Repeat("x", 100_000)
	return []Attempt{
		{What: "a generation that is no 64-bit number", Want: Schema, try: status(`"policyGeneration":1e30`)},
		{What: "a generation that is a fraction", Want: Schema, try: status(`"policyGeneration":1.5`)},
		{What: "a priority that is no 32-bit number", Want: Schema, try: status(`"committed":{"generation":1,"hash":"h","priority":99999999999}`)},
		{What: "a time that Go cannot read (a lower-case t, or a zone of +99:99)", Want: Schema, try: func(ctx context.Context, t Thief) error {
			at := func(time string) func() error {
				return func() error { return status(`"committed":{"generation":1,"hash":"h","since":"`+time+`"}`)(ctx, t) }
			}
			return anyOf(at("2026-01-02t03:04:05z"), at("2026-01-02T03:04:05+99:99"), at("2026-01-02T03:04:05"))
		}},
		{What: "a time that is none", Want: Schema, try: status(`"retry":{"attempts":1,"after":"yesterday"}`)},
		{What: "conditions of other types", Want: Admission, try: status(condition("Evil", "x"))},
		{What: "a message of 100 KB", Want: Schema, try: status(condition("Failing", long))},
		{What: "a hash of 100 KB", Want: Schema, try: status(`"hash":"` + long + `"`)},
		{What: "a plan with a hash of 100 KB", Want: Schema, try: status(`"plan":{"hash":"` + long + `","disruption":"None"}`)},
		{What: "features by the thousand", Want: Schema, try: status(`"features":["` + strings.Repeat(`f","`, 2000) + `f"]`)},
		{What: "a status of 4 MB", Want: TooLarge, try: status(`"desiredState":{"x":"` + strings.Repeat(long, 40) + `"}`)},
		{
			What: "a status of 1 MB", Want: Passes, Harmless: "what cannot be written to that enactment any more keeps no other node waiting",
			try: status(`"desiredState":{"x":"` + strings.Repeat(long, 10) + `"}`),
		},
		{
			What: "that the policy failed on its node", Want: Passes, Harmless: "nobody else knows better; it counts as one failed node, and other policies go on",
			try: status(condition("Failing", "evil")),
		},
		{
			What: "a generation that the policy never had", Want: Passes, Harmless: "it is ignored, with the event `EnactmentIgnored` on the policy",
			try: status(`"policyGeneration":1099511627776`),
		},
		{
			What: "ask for the Secrets of a policy that is not for its node", Want: Passes,
			Harmless: "it is handed nothing: the controllers go by the policy and the node", try: func(ctx context.Context, t Thief) error {
				e := t.made("not-mine")
				if err := t.Client.Create(ctx, e); err != nil {
					return err
				}
				return t.Client.Status().Patch(ctx, e, merge(`{"status":{"secretsKey":"AAAA"}}`))
			},
		},
		{
			What: "read the Secrets that node B was handed", Want: Passes, Harmless: "they are sealed, and the key is on node B's disk alone",
			try: func(ctx context.Context, t Thief) error {
				return anyOf(
					func() error {
						return t.Client.Get(ctx, client.ObjectKeyFromObject(t.enactment(t.Victim)), t.enactment(t.Victim))
					},
					func() error { return t.Client.Get(ctx, client.ObjectKeyFromObject(t.Victim), t.state(t.Victim)) },
				)
			},
		},
		{
			What: "a report of a generation that its desired state never had", Want: Passes, Harmless: "it is no word about the one that there is",
			try: func(ctx context.Context, t Thief) error {
				return t.Client.Status().Patch(ctx, &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: t.Node.Name}},
					merge(`{"status":{"observedGeneration":1099511627776}}`))
			},
		},
	}
}

func floods() []Attempt {
	return []Attempt{
		{
			What: fmt.Sprintf("%d enactments of policies that there are not", flood), Want: Passes,
			Harmless: "no policy, so no rollout; the controllers delete them after a minute", try: func(ctx context.Context, t Thief) error {
				for i := range flood {
					if err := t.Client.Create(ctx, t.made(fmt.Sprint("flood", i))); err != nil {
						return err
					}
				}
				return nil
			},
		},
		{
			What: fmt.Sprintf("%d events about the policy", flood), Want: Passes,
			Harmless: "they are about our objects, and gone in an hour", try: func(ctx context.Context, t Thief) error {
				for range flood {
					about := corev1.ObjectReference{APIVersion: v1.GroupVersion.String(), Kind: "NodeNetworkConfigurationPolicy", Name: t.Policy}
					if err := t.Client.Create(ctx, event("default", about)); err != nil {
						return err
					}
				}
				return nil
			},
		},
	}
}

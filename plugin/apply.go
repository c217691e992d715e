package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// longestTry is the most that a probe's timeout may be.
const longestTry = 1800 * time.Second

func (p *plugin) applyCommand() *cobra.Command {
	file, dry, try := "", dryNone, time.Duration(0)
	var hashes []string
	cmd := &cobra.Command{
		Use:   "apply -f FILE [--plan HASH] [--try DURATION]",
		Short: "Apply policies: with --plan only as they were reviewed, with --try only if somebody keeps them",
		Long: `apply checks a file as lint does, and writes its policies: the spec becomes that of
the file, whole. With --plan a node does only what kubectl nmstate plan has shown
with one of these hashes; it refuses any other plan (spec.planHashes).
It returns when the API server has it; kubectl nmstate status --wait waits.

With --try the change is made on each node for so long, and taken back unless
somebody answers that it is to be kept. The phases and guards are shown, then the
question. Any other answer, Ctrl-C and a closed terminal take the change back, and
the policy is what it was before. Where this command cannot do that any more, the
nodes do it when the time is over.`,
		Example: `  # What was reviewed, and nothing else
  kubectl nmstate plan -f bridge.yaml
  kubectl nmstate apply -f bridge.yaml --plan 796f18c27b3f5cd9
  kubectl nmstate status bridge --wait --timeout 10m

  # On trial for five minutes
  kubectl nmstate apply -f bridge.yaml --try 5m`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case file == "":
				return fmt.Errorf("%w: which file? give -f FILE, or -f - for standard input", errUsage)
			case checkDryRun(dry) != nil:
				return checkDryRun(dry)
			case try < 0 || try > 0 && try < time.Second:
				return fmt.Errorf("%w: --try %s: want at least a second", errUsage, try)
			case try > longestTry:
				return fmt.Errorf("%w: --try %s: want at most %s", errUsage, try, longestTry)
			case try > 0 && dry != dryNone:
				return fmt.Errorf("%w: --try with --dry-run: leave one of them out", errUsage)
			case try > 0:
				return p.try(cmd.Context(), file, hashes, try)
			}
			return p.apply(cmd.Context(), file, hashes, dry)
		},
	}
	cmd.Flags().StringVarP(&file, "filename", "f", "", "file with policies, - for standard input")
	cmd.Flags().StringSliceVar(&hashes, "plan", nil, "hash of a plan that was reviewed; may be given several times")
	cmd.Flags().DurationVar(&try, "try", 0, "take the change back after so long unless somebody keeps it")
	addDryRun(cmd, &dry)
	return cmd
}

func (p *plugin) apply(ctx context.Context, file string, hashes []string, dry string) error {
	wanted, err := p.policiesIn(file)
	if err != nil {
		return err
	}
	if len(hashes) > 0 && len(wanted) > 1 {
		return fmt.Errorf("%w: --plan is for one policy, and %s has %d", errUsage, file, len(wanted))
	}
	api, err := p.connect()
	if err != nil {
		return err
	}
	for i := range wanted {
		policy := &wanted[i]
		if len(hashes) > 0 {
			policy.Spec.PlanHashes, policy.Spec.Mode = hashes, "Apply"
		}
		done, err := write(ctx, api, policy, dry)
		if err != nil {
			return explained("writing policy "+policy.Name, err)
		}
		if len(hashes) > 0 {
			done += "; a node applies it only if its plan is " + strings.Join(hashes, " or ")
		}
		fmt.Fprintf(p.Out, "policy %s: %s\n", policy.Name, dryly(done, dry))
	}
	return nil
}

// write makes the policy, or gives the one of that name this spec.
func write(ctx context.Context, api client.Client, policy *v1.NodeNetworkConfigurationPolicy, dry string) (done string, err error) {
	var create []client.CreateOption
	var update []client.UpdateOption
	if dry == dryServer {
		create, update = append(create, client.DryRunAll), append(update, client.DryRunAll)
	}
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		var there v1.NodeNetworkConfigurationPolicy
		err := api.Get(ctx, client.ObjectKeyFromObject(policy), &there)
		if apierrors.IsNotFound(err) {
			fresh := policy.DeepCopy()
			fresh.Status = v1.NodeNetworkConfigurationPolicyStatus{}
			done = "created"
			return api.Create(ctx, fresh, create...)
		}
		if err != nil {
			return err
		}
		before := there.DeepCopy()
		there.Spec = policy.Spec
		there.Labels, there.Annotations = over(there.Labels, policy.Labels), over(there.Annotations, policy.Annotations)
		if err := api.Update(ctx, &there, update...); err != nil {
			return err
		}
		// The file may leave out what is the default, so the API server says whether it is new.
		done = "configured"
		if there.Generation == before.Generation && maps.Equal(there.Labels, before.Labels) && maps.Equal(there.Annotations, before.Annotations) {
			done = "unchanged"
		}
		return nil
	})
	return done, err
}

func over(there, said map[string]string) map[string]string {
	all := maps.Clone(there)
	for _, key := range slices.Sorted(maps.Keys(said)) {
		if all == nil {
			all = map[string]string{}
		}
		all[key] = said[key]
	}
	return all
}

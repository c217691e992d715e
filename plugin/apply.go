package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func (p *plugin) applyCommand() *cobra.Command {
	file, dry := "", dryNone
	var hashes []string
	cmd := &cobra.Command{
		Use:   "apply -f FILE [--plan HASH]",
		Short: "Apply policies, and with --plan only as they were reviewed",
		Long: `apply checks a file as lint does, and writes its policies: the spec becomes that of
the file, whole. With --plan a node does only what kubectl nmstate plan has shown
with one of these hashes; it refuses any other plan (spec.planHashes).
It returns when the API server has it; kubectl nmstate status --wait waits.`,
		Example: `  # What was reviewed, and nothing else
  kubectl nmstate plan -f bridge.yaml
  kubectl nmstate apply -f bridge.yaml --plan 796f18c27b3f5cd9
  kubectl nmstate status bridge --wait --timeout 10m`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case file == "":
				return fmt.Errorf("%w: which file? give -f FILE, or -f - for standard input", errUsage)
			case checkDryRun(dry) != nil:
				return checkDryRun(dry)
			}
			return p.apply(cmd.Context(), file, hashes, dry)
		},
	}
	cmd.Flags().StringVarP(&file, "filename", "f", "", "file with policies, - for standard input")
	cmd.Flags().StringSliceVar(&hashes, "plan", nil, "hash of a plan that was reviewed; may be given several times")
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

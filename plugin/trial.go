package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

const (
	// tidyPatience is how long the API server may take for an object that is made, or
	// removed, whoever has lost interest meanwhile.
	tidyPatience = 10 * time.Second
	// longestName is the most that a policy's name may have.
	longestName = 63
)

// trialOf is a policy that shows what this one would change, and is never applied.
func trialOf(policy *v1.NodeNetworkConfigurationPolicy) *v1.NodeNetworkConfigurationPolicy {
	ending := "-plan-" + rand.String(5)
	trial := &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{
		Name:        policy.Name[:min(len(policy.Name), longestName-len(ending))] + ending,
		Labels:      map[string]string{"app.kubernetes.io/managed-by": "kubectl-nmstate"},
		Annotations: map[string]string{v1.PlanOfAnnotation: policy.Name},
	}}
	policy.Spec.DeepCopyInto(&trial.Spec)
	trial.Spec.Mode, trial.Spec.PlanHashes = modePlan, nil
	return trial
}

// answered tells whether the API server itself said so: otherwise what was asked for may
// have been done.
func answered(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && !apierrors.IsTimeout(err) && !apierrors.IsServerTimeout(err)
}

// remove removes what was made, also for somebody who has ended the command.
func (p *plugin) remove(ctx context.Context, api client.Client, trial *v1.NodeNetworkConfigurationPolicy) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyPatience)
	defer cancel()
	var options []client.DeleteOption
	if trial.UID != "" {
		options = append(options, client.Preconditions{UID: &trial.UID})
	}
	err := client.IgnoreNotFound(api.Delete(ctx, trial, options...))
	if err != nil {
		return fmt.Errorf("removing what was made for the plan: %w; do it with: kubectl delete nncp %s", err, trial.Name)
	}
	return nil
}

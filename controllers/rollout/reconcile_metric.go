package rollout

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// Metrics are counted from the cache whenever they are asked for, so they need
// no upkeep. Until elected is closed they are silent, so that replicas do not
// count the same objects twice. The context bounds the reads for as long as the
// process runs. handlers is the namespace of the handlers' pods; empty: they are no pods.
func Metrics(ctx context.Context, reader client.Reader, elected <-chan struct{}, handlers string) []prometheus.Collector {
	return []prometheus.Collector{
		&metric{
			elected: elected,
			desc: prometheus.NewDesc("kubernetes_nmstate_policies_status",
				"Number of policies by the condition that is True.", []string{"status"}, nil),
			count: func(counts counts) error { return countPolicies(ctx, reader, counts) },
		},
		&metric{
			elected: elected,
			desc: prometheus.NewDesc("kubernetes_nmstate_enactments_status",
				"Number of enactments of a node by the condition that is True.", []string{"node", "status"}, nil),
			count: func(counts counts) error { return countEnactments(ctx, reader, counts) },
		},
		&metric{
			elected: elected,
			desc: prometheus.NewDesc("kubernetes_nmstate_features_applied",
				"Features of nmstate that enactments use: 1 while any enactment of the cluster does.", []string{"name"}, nil),
			count: func(counts counts) error { return countFeatures(ctx, reader, counts) },
		},
		&metric{
			elected: elected,
			desc: prometheus.NewDesc("kubernetes_nmstate_policies_paused",
				"Number of policies whose rollout waits for a person.", nil, nil),
			count: func(counts counts) error { return countPaused(ctx, reader, counts) },
		},
		&metric{
			elected: elected,
			desc: prometheus.NewDesc("kubernetes_nmstate_handler_missing",
				"1 for each Ready node that has reported and on which no handler is Ready.", []string{"node"}, nil),
			count: func(counts counts) error { return countMissing(ctx, reader, handlers, counts) },
		},
	}
}

// counts are by the values of a metric's labels; those it does not have are empty.
type counts map[[2]string]int

// metric is a number for each combination of its labels' values.
type metric struct {
	elected <-chan struct{}
	desc    *prometheus.Desc
	count   func(counts) error
}

// Describe implements prometheus.Collector.
func (m *metric) Describe(descriptions chan<- *prometheus.Desc) { descriptions <- m.desc }

// Collect implements prometheus.Collector.
func (m *metric) Collect(metrics chan<- prometheus.Metric) {
	select {
	case <-m.elected:
	default:
		return
	}
	found := counts{}
	if err := m.count(found); err != nil {
		metrics <- prometheus.NewInvalidMetric(m.desc, err)
		return
	}
	for _, labels := range slices.SortedFunc(maps.Keys(found), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		values := labels[:]
		for len(values) > 0 && values[len(values)-1] == "" {
			values = values[:len(values)-1]
		}
		metrics <- prometheus.MustNewConstMetric(m.desc, prometheus.GaugeValue, float64(found[labels]), values...)
	}
}

func countPolicies(ctx context.Context, reader client.Reader, found counts) error {
	policies := &v1.NodeNetworkConfigurationPolicyList{}
	if err := reader.List(ctx, policies, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("listing the policies: %w", err)
	}
	for _, conditionType := range []v1.ConditionType{
		v1.PolicyDegraded, v1.PolicyAvailable, v1.PolicyProgressing, v1.PolicyIgnored,
	} {
		found[[2]string{string(conditionType)}] = 0
		for i := range policies.Items {
			condition := v1.FindCondition(policies.Items[i].Status.Conditions, conditionType)
			if condition != nil && condition.Status == metav1.ConditionTrue {
				found[[2]string{string(conditionType)}]++
			}
		}
	}
	return nil
}

func countPaused(ctx context.Context, reader client.Reader, found counts) error {
	policies := &v1.NodeNetworkConfigurationPolicyList{}
	if err := reader.List(ctx, policies, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("listing the policies: %w", err)
	}
	found[[2]string{}] = 0
	for i := range policies.Items {
		conditions := policies.Items[i].Status.Conditions
		waits, progresses := v1.FindCondition(conditions, v1.Reconciling), v1.FindCondition(conditions, v1.PolicyProgressing)
		if waits != nil && waits.Reason == v1.ReasonPaused && progresses != nil && progresses.Status == metav1.ConditionTrue {
			found[[2]string{}]++
		}
	}
	return nil
}

// countMissing finds nodes that once had a handler, since they have a NodeNetworkState,
// and have none now. A node that is not Ready has lost more than that.
func countMissing(ctx context.Context, reader client.Reader, handlers string, found counts) error {
	if handlers == "" {
		return nil
	}
	nodes, pods, states := &corev1.NodeList{}, &corev1.PodList{}, &metav1.PartialObjectMetadataList{}
	states.SetGroupVersionKind(v1.GroupVersion.WithKind("NodeNetworkStateList"))
	err := errors.Join(reader.List(ctx, nodes, client.UnsafeDisableDeepCopy), reader.List(ctx, states, client.UnsafeDisableDeepCopy),
		reader.List(ctx, pods, client.InNamespace(handlers), client.MatchingLabels(handlerLabel), client.UnsafeDisableDeepCopy))
	if err != nil {
		return fmt.Errorf("looking for nodes without a handler: %w", err)
	}
	served, reported := map[string]bool{}, map[string]bool{}
	for i := range pods.Items {
		if isPodReady(&pods.Items[i]) {
			served[nodeOfPod(&pods.Items[i])] = true
		}
	}
	for i := range states.Items {
		reported[states.Items[i].Name] = true
	}
	for i := range nodes.Items {
		if node := &nodes.Items[i]; reported[node.Name] && !served[node.Name] && isReady(node) {
			found[[2]string{node.Name}] = 1
		}
	}
	return nil
}

func countEnactments(ctx context.Context, reader client.Reader, found counts) error {
	known := []v1.ConditionType{v1.EnactmentFailing, v1.EnactmentAvailable, v1.EnactmentProgressing, v1.EnactmentPending, v1.EnactmentAborted}
	return eachEnactment(ctx, reader, func(e *v1.NodeNetworkConfigurationEnactment) {
		for _, condition := range e.Status.Conditions {
			if condition.Status == metav1.ConditionTrue && slices.Contains(known, condition.Type) {
				found[[2]string{e.Node(), string(condition.Type)}]++
			}
		}
	})
}

// countFeatures marks what is used: the older project's gauge is no count, so that
// its sum over clusters is how many of them use a feature.
//
// A node says what it uses: what nmstate has no word for is not told, and no more
// than maxFeatures are.
func countFeatures(ctx context.Context, reader client.Reader, found counts) error {
	err := eachEnactment(ctx, reader, func(e *v1.NodeNetworkConfigurationEnactment) {
		for _, feature := range e.Status.Features {
			if featureName.MatchString(feature) {
				found[[2]string{feature}] = 1
			}
		}
	})
	names := slices.SortedFunc(maps.Keys(found), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	for _, name := range names[min(len(names), maxFeatures):] {
		delete(found, name)
	}
	return err
}

// maxFeatures is twice as many as nmstate has words for.
const maxFeatures = 200

var featureName = regexp.MustCompile(`^[a-z0-9-]{1,48}$`)

func eachEnactment(ctx context.Context, reader client.Reader, visit func(*v1.NodeNetworkConfigurationEnactment)) error {
	enactments := &v1.NodeNetworkConfigurationEnactmentList{}
	if err := reader.List(ctx, enactments, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("listing the enactments: %w", err)
	}
	for i := range enactments.Items {
		visit(&enactments.Items[i])
	}
	return nil
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/watch"
)

const (
	// restPoll is how often a pass looks whether it is over.
	restPoll = 100 * time.Millisecond
	// restPolls in a row must find nothing to do: longer than an event of our
	// own last write takes to come back, and than a status may be put off.
	restPolls = 15
)

// standing is what a policy came to.
type standing struct {
	Policy     string          `json:"policy"`
	Generation int64           `json:"generation"`
	Status     string          `json:"status"`
	Reason     string          `json:"reason,omitempty"`
	Message    string          `json:"message,omitempty"`
	Counts     v1.PolicyCounts `json:"counts"`
	settled    bool
}

// once rolls out until every policy has come to an end and nothing is left to
// write, tells what each came to, and says with the exit code how it went.
func once(ctx context.Context, o options, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, o.onceTimeout)
	defer cancel()
	mgr, err := prepare(ctx, o)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() {
		ended <- watch.Run(ctx, mgr)
		close(ended)
	}()
	all, err := untilAtRest(ctx, mgr, ended)
	if err == nil {
		err = degraded(all)
	} else if ctx.Err() != nil {
		err = fmt.Errorf("the pass did not end within %s: %w", o.onceTimeout, err)
	}
	cancel()
	for range ended { // It gives the Lease back.
		continue
	}
	return errors.Join(err, tellStandings(out, o.output, all, err))
}

// untilAtRest waits until the controllers are at rest. The error says what they still
// wait for.
func untilAtRest(ctx context.Context, mgr ctrl.Manager, ended <-chan error) ([]standing, error) {
	ticker := time.NewTicker(restPoll)
	defer ticker.Stop()
	waiting := fmt.Errorf("another instance holds the Lease %s, or the API server does not answer", leaseName)
	var all []standing
	for quiet := 0; ; {
		select {
		case <-ctx.Done():
			return all, waiting
		case err := <-ended:
			return all, errors.Join(errors.New("the controllers ended"), err)
		case <-ticker.C:
		}
		select {
		case <-mgr.Elected():
		default:
			continue
		}
		found, err := standings(ctx, mgr.GetClient())
		if err != nil {
			continue // The time is over, which the next round tells.
		}
		all, waiting = found, unsettled(found)
		working, err := busy()
		if err != nil {
			return all, err
		}
		if quiet++; working || waiting != nil {
			quiet = 0
		}
		if quiet >= restPolls {
			return all, nil
		}
		if waiting == nil {
			waiting = errors.New("there always was something to write")
		}
	}
}

// standings are those of the policies, by name.
func standings(ctx context.Context, reader client.Reader) ([]standing, error) {
	var policies v1.NodeNetworkConfigurationPolicyList
	if err := reader.List(ctx, &policies); err != nil {
		return nil, err
	}
	all := []standing{}
	for i := range policies.Items {
		if policies.Items[i].DeletionTimestamp.IsZero() {
			all = append(all, standingOf(&policies.Items[i]))
		}
	}
	slices.SortFunc(all, func(a, b standing) int { return strings.Compare(a.Policy, b.Policy) })
	return all, nil
}

// standingOf: a policy has come to an end when it is Available, Ignored,
// planned, paused for a person, or Degraded with no node changing any more.
func standingOf(policy *v1.NodeNetworkConfigurationPolicy) standing {
	s := standing{Policy: policy.Name, Generation: policy.Generation, Status: "Unknown", Counts: policy.Status.Counts}
	if policy.Status.ObservedGeneration != policy.Generation {
		s.Message = fmt.Sprintf("generation %d was not looked at yet", policy.Generation)
		return s
	}
	holds := map[v1.ConditionType]v1.Condition{}
	for _, c := range policy.Status.Conditions {
		if c.Status == metav1.ConditionTrue {
			holds[c.Type] = c
		}
	}
	for _, kind := range []v1.ConditionType{
		v1.PolicyDegraded, v1.PolicyAvailable, v1.PolicyIgnored, v1.Planned, v1.PolicyProgressing,
	} {
		if c, is := holds[kind]; is {
			s.Status, s.Reason, s.Message = string(kind), string(c.Reason), c.Message
			paused := holds[v1.Reconciling].Reason == v1.ReasonPaused
			s.settled = s.Counts.Progressing == 0 && (kind != v1.PolicyProgressing || paused)
			return s
		}
	}
	return s
}

func unsettled(all []standing) error {
	var lines []string
	for _, s := range all {
		if !s.settled {
			lines = append(lines, s.line())
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return errors.New(strings.Join(lines, "; "))
}

func degraded(all []standing) error {
	var lines []string
	for _, s := range all {
		if s.Status == string(v1.PolicyDegraded) {
			lines = append(lines, s.line())
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return errors.New(strings.Join(lines, "; "))
}

func (s standing) line() string {
	line := s.Policy + ": " + s.Status
	if s.Message != "" {
		line += ": " + s.Message
	}
	return line
}

func tellStandings(out io.Writer, output string, all []standing, err error) error {
	if output != outputJSON {
		for _, s := range all {
			if _, err := fmt.Fprintln(out, s.line()); err != nil {
				return err
			}
		}
		return nil
	}
	document := struct {
		Policies []standing `json:"policies"`
		Error    string     `json:"error,omitempty"`
	}{Policies: all}
	if err != nil {
		document.Error = err.Error()
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(document)
}

// busy tells whether a controller works or has something to do, by the numbers
// that the manager keeps of its controllers.
func busy() (bool, error) {
	families, err := metrics.Registry.Gather()
	if err != nil {
		return false, fmt.Errorf("counting what is left to do: %w", err)
	}
	for _, family := range families {
		switch family.GetName() {
		case "workqueue_depth", "controller_runtime_active_workers":
			for _, metric := range family.GetMetric() {
				if metric.GetGauge().GetValue() > 0 {
					return true, nil
				}
			}
		}
	}
	return false, nil
}

//go:build linux

package trial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/cluster"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// Row is what became of one trial.
type Row struct {
	Change, Ending, NM string
	// At is the last phase that the handler told before the end.
	At string
	// Alone is what differed from before at last, with no API server in reach and,
	// after a boot, no handler; Back is how long it took until nothing did, from
	// when the power was back, or something was killed.
	Alone []string
	Back  time.Duration
	// Reached tells that the gateway answered then.
	Reached bool
	// Later is what differed once the handler was back and had closed the journal,
	// and Result what it reported.
	Later  []string
	Result v1.TransactionResult
	Said   string
	// Kept: the change was being made permanent, and is.
	Kept bool
	// Permanent is the time from the proof until the journal was closed.
	Permanent time.Duration
	// Outage is the longest that was seen from the gateway.
	Outage time.Duration
}

// calm is how long a node has to be as before; steady states are seen at once.
const calm = 20 * time.Second

// stand is one trial under way.
type stand struct {
	cluster *cluster.Cluster
	policy  *v1.NodeNetworkConfigurationPolicy
	node    *lab.Node
	before  lab.Picture
	phases  *lab.Phases
	// began is when the node got its power back, or when something was killed.
	began time.Time
}

// Run makes a trial and ends it. The error is of what could not be carried out;
// what the product did wrong is in the row. The policy is gone afterwards.
func Run(ctx context.Context, c *cluster.Cluster, n *lab.Node, before lab.Picture, change Change, ending Ending) (Row, error) {
	s := &stand{cluster: c, node: n, before: before, policy: change.Policy(n, ending.person)}
	row := Row{Change: change.Name, Ending: ending.Name, NM: n.NetworkManager()}
	watch, err := c.Watch(ctx, n)
	if err != nil {
		return row, err
	}
	defer watch.Stop()
	if s.phases, err = n.FollowPhases(); err != nil {
		return row, err
	}
	if err := c.Client.Create(ctx, s.policy); err != nil {
		return row, fmt.Errorf("creating the policy: %w", err)
	}
	err = s.phases.Until(ctx, string(ending.Phase), patience)
	if err == nil && !ending.undisturbed() {
		err = s.end(ctx, ending)
	}
	row.At = s.phases.Last()
	if err == nil {
		err = s.alone(ctx, ending, &row)
	}
	row.Outage = watch.Stop().Longest()
	if err == nil && ending.Phase == txn.Committing {
		err = s.finished(ctx, &row)
	}
	if ending.undisturbed() {
		row.Permanent = s.phases.Between(string(txn.Committing))
	}
	if err = errors.Join(err, s.release(ctx)); err == nil {
		err = s.later(ctx, &row)
	}
	return row, err
}

// end strikes, and cuts the way to the API server, so that nothing is tried again
// before it was looked at.
func (s *stand) end(ctx context.Context, ending Ending) error {
	if ending.strike != nil {
		if err := ending.strike(ctx, s.node); err != nil {
			return err
		}
	}
	if !ending.Boots {
		return s.cluster.CutAPI(ctx)
	}
	err := errors.Join(s.node.Power(ctx, "off"), s.cluster.CutAPI(ctx))
	s.began = wall().Now()
	return errors.Join(err, s.node.Power(ctx, "on"))
}

// alone waits until the node is as before by what is on it.
func (s *stand) alone(ctx context.Context, ending Ending, row *Row) error {
	if s.began.IsZero() {
		s.began = wall().Now()
	}
	for {
		now, err := s.node.Picture(ctx)
		if err != nil {
			return err
		}
		row.Alone, row.Back = s.before.Differences(now), wall().Since(s.began)
		if len(lab.Severe(row.Alone)) == 0 || row.Back > calm || ctx.Err() != nil {
			break
		}
		if ending.undisturbed() || ending.Phase == txn.Committing && row.Back > calm/4 {
			break // It may well be the change.
		}
	}
	if ending.Boots {
		if err := s.heldBack(ctx); err != nil {
			return err
		}
	}
	_, err := s.node.Exec(ctx, "ping", "-c", "1", "-W", "3", s.node.Gateway())
	row.Reached = err == nil
	return nil
}

// heldBack checks that what was seen was the node's own doing.
func (s *stand) heldBack(ctx context.Context) error {
	units, err := s.node.Units(ctx)
	if err != nil {
		return err
	}
	for _, u := range units {
		if u.Name == "handler" && u.State != "held" {
			return fmt.Errorf("the handler of %s is %s although no API server can be reached", s.node.Name, u.State)
		}
	}
	return nil
}

// finished lets the handler finish a commit and says what a power cut takes from
// it: nothing may be.
func (s *stand) finished(ctx context.Context, row *Row) error {
	if err := s.cluster.ConnectAPI(ctx); err != nil {
		return err
	}
	if err := s.available(ctx); err != nil {
		return err
	}
	row.Kept = true
	was, err := s.quiet(ctx)
	if err != nil {
		return err
	}
	if was.Kernel, err = s.node.Addresses(ctx); err != nil {
		return err
	}
	err = errors.Join(s.node.Power(ctx, "off"), s.cluster.CutAPI(ctx), s.node.Power(ctx, "on"))
	if err != nil {
		return err
	}
	return s.same(ctx, was, &row.Alone)
}

// same waits until the node is as in a picture, and tells what is not.
func (s *stand) same(ctx context.Context, was lab.Picture, differences *[]string) error {
	for end := wall().Now().Add(calm); ; {
		now, err := s.node.Picture(ctx)
		if err != nil {
			return err
		}
		// A boot forgets what is in /run, and gives a bridge another link-local
		// address: the disk says it, and the addresses that the change is about.
		was.Run, now.Run = nil, nil
		if now.Kernel, err = s.node.Addresses(ctx); err != nil {
			return err
		}
		*differences = was.Differences(now)
		if len(lab.Severe(*differences)) == 0 || wall().Now().After(end) || ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// quiet is a picture that stays the same for a second.
func (s *stand) quiet(ctx context.Context) (lab.Picture, error) {
	var last lab.Picture
	since := wall().Now()
	err := until(ctx, s.node.Name+" to be quiet", func() error {
		now, err := s.node.Picture(ctx)
		if err != nil {
			return err
		}
		if len(last.Differences(now)) > 0 {
			last, since = now, wall().Now()
		}
		if wall().Since(since) < time.Second {
			return errors.New("it still changes")
		}
		return nil
	})
	return last, err
}

func (s *stand) available(ctx context.Context) error {
	key := client.ObjectKey{Name: v1.EnactmentName(s.node.Name, s.policy.Name)}
	return until(ctx, "the policy to be Available", func() error {
		var e v1.NodeNetworkConfigurationEnactment
		if err := s.cluster.Client.Get(ctx, key, &e); err != nil {
			return err
		}
		if !cluster.Has(e.Status.Conditions, v1.EnactmentAvailable) {
			return errors.New(cluster.True(e.Status.Conditions).Message)
		}
		return nil
	})
}

// release deletes the policy, so that it is not tried again, gives the way to
// the API server back and waits until the handler has closed the journal.
func (s *stand) release(ctx context.Context) error {
	err := client.IgnoreNotFound(s.cluster.Client.Delete(ctx, s.policy))
	if err := errors.Join(err, s.cluster.ConnectAPI(ctx)); err != nil {
		return err
	}
	return until(ctx, "the handler to close the journal", func() error {
		if _, err := os.Stat(filepath.Join(s.node.DiskPath(journalDir), "journal.json")); !errors.Is(err, os.ErrNotExist) {
			return errors.New("it is open")
		}
		var nns v1.NodeNetworkState
		if err := s.cluster.Client.Get(ctx, client.ObjectKey{Name: s.node.Name}, &nns); err != nil {
			return err
		}
		if len(nns.Spec.Sources) > 0 || !cluster.Has(nns.Status.Conditions, v1.StateAvailable) {
			return fmt.Errorf("the node's state still has %v: %s", nns.Spec.Sources, cluster.True(nns.Status.Conditions).Message)
		}
		// The journal is closed before it is told.
		if nns.Status.Transaction.IsUnderWay() {
			return fmt.Errorf("the node's state still tells of phase %s", nns.Status.Transaction.Phase)
		}
		return nil
	})
}

// later looks again with the handler back.
func (s *stand) later(ctx context.Context, row *Row) error {
	now, err := s.quiet(ctx)
	if err != nil {
		return err
	}
	if !row.Kept {
		row.Later = s.before.Differences(now)
	}
	var nns v1.NodeNetworkState
	if err := s.cluster.Client.Get(ctx, client.ObjectKey{Name: s.node.Name}, &nns); err != nil {
		return fmt.Errorf("reading the node's state: %w", err)
	}
	if t := nns.Status.Transaction; t != nil {
		row.Result, row.Said = t.Result, t.Message
	}
	return nil
}

// Exact tells that nothing differs, alone and later, but for metrics that
// NetworkManager chose.
func (r Row) Exact() bool { return len(lab.Severe(r.Alone))+len(lab.Severe(r.Later)) == 0 }

// Kinds says of disk, profiles and kernel "exact" or what differed at last.
func (r Row) Kinds() [3]string {
	found := [3]string{"exact", "exact", "exact"}
	for i, kind := range []string{"disk", "profiles", "kernel"} {
		for _, d := range append(append([]string(nil), r.Alone...), r.Later...) {
			if text, is := strings.CutPrefix(d, kind+": "); is {
				found[i] = text
			}
			if kind == "kernel" && found[i] == "exact" && strings.HasPrefix(d, "metrics: ") {
				found[i] = "exact but for a metric that NetworkManager chose"
			}
		}
	}
	return found
}

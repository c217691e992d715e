package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os/signal"
	"strings"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/plugin/view"
)

// takeBackPatience is how long the nodes may take to be as they were before.
const takeBackPatience = 2 * time.Minute

// trying is a policy that is kept only if a person says so.
type trying struct {
	*plugin
	api client.Client
	// file is the policy as it was written, made the one that asks for a confirmation.
	file, made *v1.NodeNetworkConfigurationPolicy
	// before is what was there, nil where nothing was.
	before *v1.NodeNetworkConfigurationPolicy
	asked  bool
	answer chan string
}

// try applies a policy, and takes it back unless somebody keeps it.
func (p *plugin) try(ctx context.Context, file string, hashes []string, long time.Duration) error {
	if file == "-" {
		return fmt.Errorf("%w: --try asks on standard input, so the policy cannot come from there", errUsage)
	}
	wanted, err := p.policiesIn(file)
	switch {
	case err != nil:
		return err
	case len(wanted) > 1:
		return fmt.Errorf("%w: --try is for one policy, and %s has %d", errUsage, file, len(wanted))
	case wanted[0].Spec.Mode == modePlan:
		return fmt.Errorf("%w: policy %s is in mode Plan: there is nothing to try", errUsage, wanted[0].Name)
	}
	api, err := p.connect()
	if err != nil {
		return err
	}
	if len(hashes) > 0 {
		wanted[0].Spec.PlanHashes, wanted[0].Spec.Mode = hashes, "Apply"
	}
	t := &trying{plugin: p, api: api, file: &wanted[0], made: view.TryPolicy(&wanted[0], long), answer: make(chan string, 1)}
	// Where the output goes is closed with the terminal. To be killed for that would leave the policy behind.
	ctx, cancel := signal.NotifyContext(ctx, syscall.SIGPIPE)
	defer cancel()
	if err := t.begin(ctx); err != nil {
		return err
	}
	kept, err := t.follow(ctx)
	if kept {
		return err
	}
	return errors.Join(err, t.takeBack(context.WithoutCancel(ctx)))
}

// begin writes the policy, with what is there kept for the way back.
func (t *trying) begin(ctx context.Context) error {
	var there v1.NodeNetworkConfigurationPolicy
	err := t.api.Get(ctx, client.ObjectKeyFromObject(t.made), &there)
	switch {
	case err == nil:
		t.before = there.DeepCopy()
	case !apierrors.IsNotFound(err):
		return explained("reading policy "+t.made.Name, err)
	}
	done, err := write(ctx, t.api, t.made, dryNone)
	if err == nil {
		err = t.api.Get(ctx, client.ObjectKeyFromObject(t.made), &there)
	}
	if err != nil {
		return explained("writing policy "+t.made.Name, err)
	}
	t.made = &there
	fmt.Fprintf(t.ErrOut, "policy %s: %s; Ctrl-C takes it back\n", t.made.Name, done)
	return nil
}

// follow shows what happens until the change is kept and the policy has come to its end,
// or it is to be taken back.
func (t *trying) follow(ctx context.Context) (kept bool, err error) {
	held, changed, err := t.plugin.follow(ctx, t.made.Name)
	if err != nil {
		return false, err
	}
	show := t.shower()
	for {
		found, err := t.look(ctx, held, t.api, t.made.Name)
		switch {
		case ctx.Err() != nil:
			return kept, errInterrupted
		case err != nil:
			return kept, err
		}
		show(found)
		if kept || t.isKept(ctx) {
			kept = true
			if end, why := found[0].End(); end != view.GoesOn && len(found[0].Question(t.clock.Now())) == 0 {
				return kept, t.end(ctx, found, end, why)
			}
		} else if end, why := found[0].End(); end == view.Failed || end == view.Done {
			return end == view.Done, t.end(ctx, found, end, why)
		}
		if !kept && !t.asked && found[0].Question(t.clock.Now()) != "" {
			t.ask(found[0])
		}
		select {
		case <-ctx.Done():
		case <-changed:
		case <-t.clock.After(redrawAfter):
		case said := <-t.answer:
			if said != "y" && said != "yes" {
				return kept, errors.New("it is not kept")
			}
			if err := t.keep(ctx); err != nil {
				return kept, err
			}
			kept = true
		}
	}
}

// shower shows a look: on a terminal with the question below the picture.
func (t *trying) shower() func([]view.Policy) {
	if t.terminal == nil {
		return t.follower(t.made.Name, statusOptions{})
	}
	screen := &screen{out: t.Out, size: t.terminal}
	return func(found []view.Policy) {
		lines := t.statusLines(found, t.made.Name, statusOptions{})
		if question := found[0].Question(t.clock.Now()); question != "" {
			lines = append(lines, "", question)
		}
		screen.draw(lines)
	}
}

// ask asks once; on a terminal the question stands below the picture.
func (t *trying) ask(policy view.Policy) {
	t.asked = true
	if t.terminal == nil {
		fmt.Fprintln(t.ErrOut, policy.Question(t.clock.Now()))
	}
	go func() {
		line, err := bufio.NewReader(t.In).ReadString('\n')
		if err != nil && line == "" {
			line = "nobody is there"
		}
		t.answer <- strings.ToLower(strings.TrimSpace(line))
	}()
}

func (t *trying) keep(ctx context.Context) error {
	found, err := t.look(ctx, t.api, t.api, t.made.Name)
	if err != nil {
		return err
	}
	word, err := view.ConfirmWord(found[0])
	if err != nil {
		return err
	}
	return t.say(ctx, t.api, t.made, word, dryNone)
}

// isKept tells whether somebody has confirmed it, here or elsewhere.
func (t *trying) isKept(ctx context.Context) bool {
	var now v1.NodeNetworkConfigurationPolicy
	err := t.api.Get(ctx, client.ObjectKeyFromObject(t.made), &now)
	return err == nil && now.Generation == t.made.Generation && view.IsConfirmed(&now)
}

// end tells how it ended. What is kept asks nobody any more: the policy becomes that of
// the file, which changes nothing on the nodes.
func (t *trying) end(ctx context.Context, found []view.Policy, end view.End, why string) error {
	if t.terminal == nil {
		if err := t.showStatus(found, t.made.Name, statusOptions{}); err != nil {
			return err
		}
	}
	switch end {
	case view.Waits:
		return fmt.Errorf("%w: %s", errWaits, why)
	case view.Failed:
		return errors.New(why)
	}
	if _, err := write(ctx, t.api, t.file, dryNone); err != nil {
		return explained("policy "+t.file.Name+" is kept; writing it without the probe that asks", err)
	}
	fmt.Fprintf(t.Out, "policy %s: kept\n", t.file.Name)
	return nil
}

// takeBack makes the policy what it was before, and waits for the nodes. They take the
// change back by themselves, too, once the time is over.
func (t *trying) takeBack(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, takeBackPatience, fmt.Errorf("after %s", takeBackPatience))
	defer cancel()
	var now v1.NodeNetworkConfigurationPolicy
	said, left := "deleted", false
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		if err := t.api.Get(ctx, client.ObjectKeyFromObject(t.made), &now); err != nil {
			return client.IgnoreNotFound(err)
		}
		switch {
		case now.UID != t.made.UID || now.Generation != t.made.Generation:
			said, left = "somebody has edited it meanwhile, so it is left alone", true
			return nil
		case t.before == nil:
			return client.IgnoreNotFound(t.api.Delete(ctx, &now, client.Preconditions{UID: &now.UID}))
		}
		now.Spec, now.Labels, now.Annotations, said = t.before.Spec, t.before.Labels, t.before.Annotations, "as it was before"
		return t.api.Update(ctx, &now)
	})
	if err != nil {
		return explained("taking policy "+t.made.Name+" back; the nodes take the change back by themselves when the time is over", err)
	}
	fmt.Fprintf(t.ErrOut, "policy %s: %s\n", t.made.Name, said)
	if left {
		return nil
	}
	if err := t.awaitBack(ctx); err != nil {
		return err
	}
	fmt.Fprintf(t.ErrOut, "policy %s: taken back\n", t.made.Name)
	return nil
}

// awaitBack waits until no node is changing.
func (t *trying) awaitBack(ctx context.Context) error {
	return t.until(ctx, "nodes that are not as before yet", func() ([]string, error) {
		left, err := enactmentsOf(ctx, t.api, t.made.Name)
		var nodes []string
		for i := range left {
			if t.before == nil || view.IsRunning(&left[i]) {
				nodes = append(nodes, left[i].Node())
			}
		}
		return nodes, err
	})
}

package agent

import (
	"context"
	"errors"
	"strings"
	"time"

	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
)

// recoverUnread takes back what may be open, and sets aside what cannot be read.
// Until then it is in its place: a handler that ends meanwhile leaves it all to
// the next one.
func (a *Agent) recoverUnread(ctx context.Context) error {
	if !a.record.left.isBlind() {
		return nil
	}
	log := logf.FromContext(ctx)
	log.Info("an earlier process left what cannot be read: going on without it", "cause", a.record.Unread.Message)
	done := ""
	if a.record.left.blind.entry {
		var err error
		if done, err = a.backWithoutEntry(ctx); err != nil {
			return err
		}
		log.Info("the node was taken back without a journal", "done", done)
	}
	if !a.takeTurn(ctx) {
		return ctx.Err()
	}
	defer a.endTurn()
	if done != "" {
		a.record.Unread.Message += "; without it: " + done
	}
	if err := a.Journal.Close(a.record.Record); err != nil {
		// The disk is full or cannot be written to: what is there stays for the
		// next handler, which does the same again.
		log.Error(err, "cannot set aside what cannot be read")
	}
	a.record.left, a.record.untold = leftover{}, true
	a.inbox.dirty.Store(true)
	a.poke()
	return nil
}

// backWithoutEntry takes back a trial by what NetworkManager knows of it. A
// checkpoint that is alive may be somebody else's: it is left to end by itself,
// as ours does. It waits for NetworkManager as long as that takes, and says
// what was done.
func (a *Agent) backWithoutEntry(ctx context.Context) (string, error) {
	alive, err := ask(ctx, a, a.Backend.Pending)
	if err != nil {
		return "", err
	}
	instance, err := ask(ctx, a, a.Backend.Instance)
	if err != nil {
		return "", err
	}
	now, err := ask(ctx, a, a.Backend.Profiles)
	if err != nil {
		return "", err
	}
	files, devices := profiles.WithoutJournal(now)
	done, err := a.doAll(ctx, files)
	if err != nil {
		return "", err
	}
	waited, err := a.awaitEnd(ctx, alive)
	if err != nil {
		return "", err
	}
	if waited {
		done = append(done, "NetworkManager's checkpoint has ended")
		if still, err := ask(ctx, a, a.Backend.Instance); err != nil || still == instance {
			return strings.Join(done, ", "), err // It has brought the devices back.
		}
	}
	again, err := a.doAll(ctx, devices)
	if done = append(done, again...); len(done) == 0 {
		done = []string{"NetworkManager has neither a checkpoint nor a profile that hides one on disk, so nothing was changed"}
	}
	if err != nil {
		return "", err
	}
	if now, err = ask(ctx, a, a.Backend.Profiles); err != nil {
		return "", err
	}
	return strings.Join(done, ", ") + undecided(profiles.LeftInRun(now)), nil
}

// undecided says what may be of the trial or somebody else's.
func undecided(files []string) string {
	if len(files) == 0 {
		return ""
	}
	return "; left until the next boot, since it may be somebody else's: " + strings.Join(idle.Lines(files), ", ")
}

// ask NetworkManager until it answers, or until ctx ends.
func ask[T any](ctx context.Context, a *Agent, question func(context.Context) (T, error)) (T, error) {
	for {
		answer, err := question(ctx)
		if err == nil {
			return answer, nil
		}
		logf.FromContext(ctx).V(1).Info("waiting for NetworkManager", "cause", err.Error())
		if !a.Clock.Wait(ctx, a.wake, recoverPoll) {
			return answer, ctx.Err()
		}
	}
}

// awaitEnd waits until the checkpoints are gone that end by themselves, and tells
// whether there were any.
func (a *Agent) awaitEnd(ctx context.Context, alive []backend.Pending) (waited bool, err error) {
	ending := map[backend.Checkpoint]bool{}
	for _, p := range alive {
		if p.RollbackAfter > 0 { // Otherwise it has no end, and so it is not ours.
			ending[p.Checkpoint] = true
		}
	}
	for len(ending) > 0 {
		if !waited {
			logf.FromContext(ctx).Info("a checkpoint of NetworkManager is alive: waiting until it ends by itself")
			waited = true
		}
		pending, err := ask(ctx, a, a.Backend.Pending)
		if err != nil {
			return waited, err
		}
		still := map[backend.Checkpoint]bool{}
		for _, p := range pending {
			still[p.Checkpoint] = ending[p.Checkpoint]
		}
		for checkpoint := range ending {
			if !still[checkpoint] {
				delete(ending, checkpoint)
			}
		}
		if len(ending) > 0 && !a.Clock.Wait(ctx, a.wake, recoverPoll) {
			return waited, ctx.Err()
		}
	}
	return waited, nil
}

const (
	// actionAttempts and actionRetry are for an action that NetworkManager
	// refuses; one for which it is away is tried for as long as it is.
	actionAttempts = 3
	actionRetry    = 2 * time.Second
)

// doAll carries the actions out, and says which and how those failed that did.
func (a *Agent) doAll(ctx context.Context, actions []profiles.Action) (done []string, err error) {
	for _, action := range actions {
		for attempt := 1; ; attempt++ {
			err := a.Backend.Do(ctx, action)
			away := errors.Is(err, backend.ErrUnavailable)
			switch {
			case err == nil:
				done = append(done, action.String())
			case errors.Is(err, backend.ErrGone):
			case away || attempt < actionAttempts:
				if !a.Clock.Wait(ctx, nil, actionRetry) {
					return done, ctx.Err()
				}
				if away {
					attempt = 0
				}
				continue
			default:
				done = append(done, action.String()+" failed: "+err.Error())
			}
			break
		}
	}
	return done, nil
}

//go:build linux

package chromium

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane/controlplanetest"
)

// patience is how long a browser on a busy machine may take for anything.
const patience = 2 * time.Minute

// Find finds one that can be used without a display.
func Find(t testing.TB, getenv func(string) string) string {
	t.Helper()
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "/usr/lib64/chromium-browser/headless_shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	err := errors.New("no chromium here: hack/install-deps.sh installs it")
	if getenv("NMSTATE_STRICT") == "1" {
		t.Fatal(err)
	}
	t.Skip(err)
	return ""
}

// Browser is one tab, and what went wrong in it.
type Browser struct {
	t   testing.TB
	ctx context.Context //nolint:containedctx // To chromedp the browser is its context.
	at  string
	*notes
}

// notes are what went wrong since they were looked at last.
type notes struct {
	mu    sync.Mutex
	wrong []string
}

// Open starts a browser, which Find has found, that may talk to nobody but the host of the address.
func Open(t testing.TB, program, address string) *Browser {
	t.Helper()
	host, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.WindowSize(1280, 900))
	allocated, end := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(end)
	ctx, closed := chromedp.NewContext(allocated)
	t.Cleanup(closed)
	b := &Browser{t: t, ctx: ctx, at: host.Scheme + "://" + host.Host, notes: &notes{}}
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if asked, err := url.Parse(e.Request.URL); err != nil || asked.Scheme != "data" && asked.Host != host.Host {
				b.note("a request to " + e.Request.URL)
			}
		case *runtime.EventExceptionThrown:
			b.note("an exception: " + e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
				b.note("the console has " + e.Type.String())
			}
		case *log.EventEntryAdded:
			if e.Entry.Level == log.LevelError || e.Entry.Level == log.LevelWarning {
				b.note("the log has: " + e.Entry.Text + " " + e.Entry.URL)
			}
		}
	})
	b.Do("starting it", network.Enable(), log.Enable(), runtime.Enable(), chromedp.Navigate(address))
	return b
}

func (b *notes) note(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Contains(b.wrong, what) {
		b.wrong = append(b.wrong, what)
	}
}

// Check fails for all that went wrong so far.
func (b *Browser) Check(where string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, what := range b.wrong {
		b.t.Errorf("%s: %s", where, what)
	}
	b.wrong = nil
}

// Do runs actions, and fails where one does.
func (b *Browser) Do(what string, actions ...chromedp.Action) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	// The browser lives as long as the context that it was started with.
	if err := chromedp.Run(b.ctx, chromedp.ActionFunc(func(context.Context) error { return nil })); err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
	if err := chromedp.Run(ctx, actions...); err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
}

// Visit goes to a page of the same host.
func (b *Browser) Visit(path string) {
	b.t.Helper()
	b.Do("visiting "+path, chromedp.Navigate(b.at+path))
}

// Await waits until an expression of the page's script holds, on whichever page is there
// by then.
func (b *Browser) Await(expression string) {
	b.t.Helper()
	controlplanetest.Eventually(b.t, func(context.Context) error { return b.holds(expression) })
}

// Repeat does something until an expression holds: a browser that has not drawn the page
// yet passes over what is typed.
func (b *Browser) Repeat(action chromedp.Action, expression string) {
	b.t.Helper()
	controlplanetest.Eventually(b.t, func(context.Context) error {
		if err := chromedp.Run(b.ctx, action); err != nil {
			return err
		}
		return b.holds(expression)
	})
}

func (b *Browser) holds(expression string) error {
	var holds bool
	if err := chromedp.Run(b.ctx, chromedp.Evaluate(expression, &holds)); err != nil {
		return fmt.Errorf("%s: %w", expression, err)
	}
	if !holds {
		return errors.New("it is not so: " + expression)
	}
	return nil
}

// Value is what an expression of the page's script comes to.
func (b *Browser) Value(expression string) string {
	b.t.Helper()
	var got string
	b.Do("asking for "+expression, chromedp.Evaluate("String("+expression+")", &got))
	return got
}

// Picture leaves one for people in a folder.
func (b *Browser) Picture(folder, name, scheme string) {
	b.t.Helper()
	var raw []byte
	b.Do("taking a picture of "+name, emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
		chromedp.CaptureScreenshot(&raw))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+"-"+scheme+".png"), raw, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// In is the browser in a part of a test.
func (b *Browser) In(t testing.TB) *Browser {
	return &Browser{t: t, ctx: b.ctx, at: b.at, notes: b.notes}
}

// Forgive forgets what went wrong so far, where that was meant.
func (b *Browser) Forgive() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wrong = nil
}

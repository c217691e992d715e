//go:build linux

package timeline

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/sim/trace"
)

//go:embed testdata/before.js
var before string

//go:embed testdata/check.js
var check string

// patience with a browser that starts on a busy machine.
const patience = 3 * time.Minute

// found is what check.js tells.
type found struct {
	Width, Rows, Transactions, Phases, Lives, Faults, Cuts, Marks, Violations int

	Tip      string
	Failures []string
}

// counted is the same of a record.
func counted(record *trace.Record, width int) found {
	all := found{Width: width, Rows: len(record.Rows), Violations: len(record.Violations), Failures: []string{}}
	for _, row := range record.Rows {
		all.Transactions += len(row.Transactions)
		all.Lives += len(row.Lives)
		all.Faults += len(row.Faults)
		all.Cuts += len(row.Cuts)
		all.Marks += len(row.Marks)
		for _, t := range row.Transactions {
			all.Phases += len(t.Phases)
		}
	}
	return all
}

func TestTimelineInABrowser(t *testing.T) {
	browser, err := browser()
	if err != nil {
		if os.Getenv("NMSTATE_STRICT") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	tests := map[string]struct {
		record *trace.Record
		tip    string
	}{
		"five nodes for ten minutes":                                   {drawn(5, 10*time.Minute, 8), "transaction"},
		"two hundred nodes for an hour with thousands of transactions": {drawn(200, time.Hour, 25), "transaction"},
		"a run in which nothing happened":                              {trace.NewRecorder("n1").Record(time.Second), ""},
	}
	for name, test := range tests {
		for _, width := range []int{1280, 400} {
			t.Run(fmt.Sprintf("%s, %d pixels wide", name, width), func(t *testing.T) {
				page := written(t, test.record, true)
				got, said := opened(t, browser, page, width)
				if (test.tip == "") != (got.Tip == "") {
					t.Errorf("the tooltip says %q", got.Tip)
				}
				got.Tip = ""
				if diff := cmp.Diff(counted(test.record, width), got); diff != "" {
					t.Errorf("the page differs from the record (-want +got):\n%s", diff)
				}
				if said != "" {
					t.Errorf("the browser's console says:\n%s", said)
				}
				pictured(t, browser, test.record, width)
			})
		}
	}
}

// browser finds one that can be used without a display.
func browser() (string, error) {
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "/usr/lib64/chromium-browser/headless_shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("no chromium here: hack/install-deps.sh installs it")
}

// written is the file of a page, with the check in it if wanted.
func written(t *testing.T, record *trace.Record, checked bool) string {
	t.Helper()
	var page bytes.Buffer
	if err := record.HTML(&page); err != nil {
		t.Fatal(err)
	}
	text := page.String()
	if checked {
		text = strings.Replace(text, "<head>", "<head><script>"+before+"</script>", 1)
		text = strings.Replace(text, "</body>", "<script>"+check+"</script></body>", 1)
	}
	name := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// frame shows a page as wide as wanted: some browsers' windows are not that small.
const frame = `<!doctype html><title>frame</title><pre id="found"></pre>
<script>addEventListener("message", event => { document.getElementById("found").textContent = event.data; });</script>
<iframe src="page.html" width="%d" height="800" style="border:0"></iframe>`

var answer = regexp.MustCompile(`(?s)<pre id="found">(.*?)</pre>`)

// console are the lines of a browser's log that a page has caused.
var console = regexp.MustCompile(`(?m)^.*:CONSOLE.*$`)

func opened(t *testing.T, browser, page string, width int) (found, string) {
	t.Helper()
	outer := filepath.Join(filepath.Dir(page), "frame.html")
	if err := os.WriteFile(outer, fmt.Appendf(nil, frame, width), 0o600); err != nil {
		t.Fatal(err)
	}
	out, log := run(t, browser, "--virtual-time-budget=20000", "--dump-dom", "file://"+outer)
	told := answer.FindStringSubmatch(out)
	var got found
	if told == nil || json.Unmarshal([]byte(html.UnescapeString(told[1])), &got) != nil {
		t.Fatalf("the page told nothing:\n%s\n%s", out, log)
	}
	return got, strings.Join(console.FindAllString(log, -1), "\n")
}

// run starts the browser with a profile of its own and waits for its end.
func run(t *testing.T, browser string, arguments ...string) (stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	// Everything runs in this process tree, which ends with the browser.
	arguments = append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars", "--enable-logging=stderr",
		"--user-data-dir=" + t.TempDir(),
	}, arguments...)
	command := exec.CommandContext(ctx, browser, arguments...)
	var out, log bytes.Buffer
	command.Stdout, command.Stderr = &out, &log
	if err := command.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", browser, err, log.String())
	}
	return out.String(), log.String()
}

// pictured leaves a picture of the page for people.
func pictured(t *testing.T, browser string, record *trace.Record, width int) {
	t.Helper()
	folder, err := filepath.Abs("../../artifacts/timeline")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	schemes := []string{"light", "dark"}
	if width < 1280 {
		schemes = schemes[:1]
	}
	for _, scheme := range schemes {
		name := filepath.Join(folder, fmt.Sprintf("%d-rows-%d-%s.png", len(record.Rows), width, scheme))
		run(t, browser, fmt.Sprintf("--window-size=%d,900", max(width, 400)), "--screenshot="+name,
			fmt.Sprintf("--blink-settings=preferredColorScheme=%d", slices.Index([]string{"dark", "light"}, scheme)),
			"--virtual-time-budget=5000", "file://"+written(t, record, false))
		if picture, err := os.ReadFile(name); err != nil || !bytes.HasPrefix(picture, []byte("\x89PNG")) {
			t.Errorf("%s: no picture: %v", name, err)
		}
	}
}

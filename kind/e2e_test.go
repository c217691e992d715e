package kind

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// suiteOf is a checkout whose kind.sh, images.sh and go only tell what they are
// called with; go does what a test says.
func suiteOf(t *testing.T, suite string) *checkout {
	t.Helper()
	c := newCheckout(t)
	told := func(name, body string) {
		c.write(name, "#!/bin/sh\necho \""+filepath.Base(name)+" $*\" >>"+c.root+"/calls\n"+body)
	}
	told("hack/images.sh", "")
	told("kind/before.sh", "")
	told("kind/kind.sh", `case $1 in
up) echo KIND_BIN=/bin >out/kind/env;;
env) cat out/kind/env;;
down) rm -f out/kind/env;;
esac
`)
	if err := os.MkdirAll(filepath.Join(c.root, "out/kind"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.program("go", suite)
	for _, there := range []string{"docker", "gcc", "ip", "apt-get"} {
		c.program(there, "")
	}
	return c
}

func TestTheSuiteInstallsWhatItNeedsWhereThereIsNoDocker(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root installs; run it as root")
	}
	for sentence, without := range map[string][]string{
		"a machine without docker":            {"docker"},
		"a machine with nothing but Go on it": {"docker", "gcc", "ip"},
	} {
		t.Run(sentence, func(t *testing.T) {
			c := suiteOf(t, "")
			script, err := os.ReadFile(filepath.Join(c.root, "hack/install-deps.sh"))
			if err != nil {
				t.Fatal(err)
			}
			// The dockerd of the machine that the test runs on is not this one's.
			c.write("hack/install-deps.sh", strings.ReplaceAll(string(script), "PATH=$PATH:/usr/sbin:/sbin ", ""))
			for _, program := range without {
				if err := os.Remove(filepath.Join(c.bin, program)); err != nil {
					t.Fatal(err)
				}
			}
			exit, said := c.run("kind/e2e.sh")
			calls := c.calls()
			installed := strings.Index(calls, "apt-get install --no-install-recommends -y gcc libc6-dev iproute2 ca-certificates docker.io\n")
			if built := strings.Index(calls, "images.sh"); exit != 0 || installed < 0 || built < installed {
				t.Errorf("exit code %d after:\n%s\n%s", exit, calls, said)
			}
			if strings.Contains(calls, "chromium") {
				t.Errorf("it installed more than it needs:\n%s", calls)
			}
		})
	}
}

func TestTheSuiteInstallsNothingWhereAllIsThere(t *testing.T) {
	c := suiteOf(t, "")
	if exit, said := c.run("kind/e2e.sh"); exit != 0 || strings.Contains(c.calls(), "apt-get") {
		t.Errorf("exit code %d after:\n%s\n%s", exit, c.calls(), said)
	}
}

// verbs are what kind.sh was told to do, in order.
func (c *checkout) verbs() []string {
	var all []string
	for line := range strings.Lines(c.calls()) {
		if words := strings.Fields(line); words[0] == "kind.sh" && words[1] != "env" {
			all = append(all, words[1])
		}
	}
	return all
}

func TestTheSuiteTakesAwayWhatItMade(t *testing.T) {
	tests := map[string]struct {
		prepare func(*checkout)
		suite   string
		verbs   []string
		exit    int
	}{
		"a suite that passes":           {verbs: []string{"up", "down"}},
		"a suite that fails":            {suite: "exit 1", verbs: []string{"up", "down"}, exit: 1},
		"a cluster that is to stay":     {prepare: func(c *checkout) { c.env = append(c.env, "KEEP=1") }, verbs: []string{"up"}},
		"a cluster that stood before":   {prepare: func(c *checkout) { c.write("out/kind/env", "KIND_BIN=/bin\n") }, verbs: []string{"up"}},
		"images that cannot be built":   {prepare: func(c *checkout) { c.write("hack/images.sh", "#!/bin/sh\nexit 1\n") }, exit: 1},
		"a cluster that cannot be made": {prepare: func(c *checkout) { c.write("kind/kind.sh", "#!/bin/sh\nexit 1\n") }, exit: 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := suiteOf(t, test.suite)
			if test.prepare != nil {
				test.prepare(c)
			}
			exit, said := c.run("kind/e2e.sh")
			if exit != test.exit || !slices.Equal(c.verbs(), test.verbs) {
				t.Errorf("exit code %d after kind.sh %v, want %d after %v:\n%s", exit, c.verbs(), test.exit, test.verbs, said)
			}
		})
	}
}

func TestCtrlCInTheSuiteTakesTheClusterAway(t *testing.T) {
	c := suiteOf(t, busy)
	if exit, said := c.interrupted("kind/e2e.sh"); exit != 130 || !slices.Equal(c.verbs(), []string{"up", "down"}) {
		t.Errorf("exit code %d after kind.sh %v, want 130 after up and down:\n%s", exit, c.verbs(), said)
	}
}

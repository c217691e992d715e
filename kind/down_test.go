package kind

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// standing is a cluster of this checkout. A folder is what is there: kind deletes only
// what loaded says, and docker what is not stuck.
func standing(t *testing.T, kind string) *checkout {
	t.Helper()
	c := newCheckout(t)
	c.env = append(c.env, "KIND_DOWN_SECONDS=3")
	there := filepath.Join(c.root, "there")
	for _, name := range []string{"nmstate-control-plane", "nmstate-worker", "nmstate-fabric", "network"} {
		c.write(filepath.Join("there", name), "")
	}
	c.program("kind", "cd "+c.root+"\n"+kind)
	c.program("docker", `cd `+there+`
case "$1 $2" in
"inspect "*) [ -e nmstate-fabric ] || { echo "error: no such object: nmstate-fabric"; exit 1; }; echo `+c.root+`;;
"ps "*) [ ! -e ../mute ] || exit 1
	case "$*" in *fabric*) ls nmstate-fabric 2>/dev/null;; *) ls | grep -e plane -e worker;; esac; true;;
"rm "*) shift 3; for name; do [ -e ../stuck-$name ] || rm -f $name; done;;
"network inspect") [ -e network ] || exit 1; echo 0;;
"network rm") [ -e nmstate-control-plane ] || [ -e ../stuck-network ] || rm -f network;;
esac
`)
	return c
}

func TestDownIsOverWhenAllIsGone(t *testing.T) {
	const deletes = "rm -f there/nmstate-control-plane there/nmstate-worker"
	for sentence, tt := range map[string]struct {
		kind  string
		stuck string
		exit  int
		left  string
	}{
		"kind deletes its nodes":                 {kind: deletes},
		"kind gives up, and docker removes them": {kind: "exit 1"},
		"a node cannot be removed":               {kind: "exit 1", stuck: "stuck-nmstate-control-plane", exit: 1, left: "nmstate-control-plane"},
		"the fabric cannot be removed":           {kind: deletes, stuck: "stuck-nmstate-fabric", exit: 1, left: "nmstate-fabric"},
		"the network cannot be removed":          {kind: deletes, stuck: "stuck-network", exit: 1, left: "network kind"},
		"docker does not answer any more":        {kind: deletes, stuck: "mute", exit: 1, left: "docker does not answer"},
	} {
		t.Run(sentence, func(t *testing.T) {
			c := standing(t, tt.kind)
			if tt.stuck != "" {
				c.write(tt.stuck, "")
			}
			exit, said := c.run("kind/kind.sh", "down")
			left, err := os.ReadDir(filepath.Join(c.root, "there"))
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case exit != tt.exit:
				t.Errorf("exit code %d, want %d:\n%s\n%s", exit, tt.exit, said, c.calls())
			case exit == 0 && (len(left) > 0 || !strings.Contains(said, "cluster nmstate is gone")):
				t.Errorf("%d things are left and it said:\n%s", len(left), said)
			case exit != 0 && (strings.Contains(said, "is gone") || !strings.Contains(said, "still there: "+tt.left+";")):
				t.Errorf("want that %s is still there:\n%s", tt.left, said)
			}
		})
	}
}

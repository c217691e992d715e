package nmstate

import (
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// talk is a database that has one answer, in the words of ovsdb-server 3.1. It
// returns where its socket is, and what it was asked.
func talk(t *testing.T, answer string) (disk, <-chan string) {
	t.Helper()
	d := disk{root: t.TempDir()}
	if err := os.MkdirAll(filepath.Dir(d.at(openVSwitchSocket)), 0o755); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", d.at(openVSwitchSocket))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	heard := make(chan string, 1)
	go func() {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		defer connection.Close()
		var request struct {
			Params json.RawMessage `json:"params"`
		}
		if json.NewDecoder(connection).Decode(&request) == nil {
			heard <- string(request.Params)
			_, _ = io.WriteString(connection, answer)
		}
	}()
	return d, heard
}

const echo = `{"id":"echo","method":"echo","params":[]}`

func TestOpenVSwitchIsRead(t *testing.T) {
	d, heard := talk(t, echo+`{"id":"nmstate","result":[{"rows":[{"external_ids":["map",[["count","3"],["system-id","rack7"]]],"other_config":["map",[]]}]}],"error":null}`)
	got := d.openVSwitchIfKnown(t.Context())
	want := state.Columns{"external_ids": {"count": "3", "system-id": "rack7"}, "other_config": {}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	const asked = `["Open_vSwitch",{"columns":["external_ids","other_config"],"op":"select","table":"Open_vSwitch","where":[]}]`
	if got := <-heard; got != asked {
		t.Errorf("asked %s", got)
	}
}

func TestOpenVSwitchIsWritten(t *testing.T) {
	one := "1"
	d, heard := talk(t, `{"id":"nmstate","result":[{"count":1},{}],"error":null}`)
	if err := d.writeOpenVSwitch(t.Context(), state.Keys{"external_ids": {"new": &one}}); err != nil {
		t.Fatal(err)
	}
	const asked = `["Open_vSwitch",{"mutations":[["external_ids","delete",["set",["new"]]],["external_ids","insert",["map",[["new","1"]]]]],` +
		`"op":"mutate","table":"Open_vSwitch","where":[]},{"durable":true,"op":"commit"}]`
	if got := <-heard; got != asked {
		t.Errorf("asked %s", got)
	}
}

func TestOpenVSwitchThatCannotWriteSaysWhy(t *testing.T) {
	cases := map[string]struct{ answer, want string }{
		"an operation failed": {`{"id":"nmstate","result":[{"count":1},{"error":"I/O error","details":"No space left on device"}],"error":null}`, "I/O error: No space left on device"},
		"nothing was done":    {`{"id":"nmstate","result":null,"error":{"error":"unknown database"}}`, "unknown database"},
		"it was never set up": {`{"id":"nmstate","result":[{"count":0},{}],"error":null}`, "Open vSwitch was never started"},
		"it hangs up":         {echo, "EOF"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			d, _ := talk(t, c.answer)
			err := d.writeOpenVSwitch(t.Context(), state.Keys{"external_ids": {"gone": nil}})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// TestNodeWithoutOpenVSwitch: reading the profiles of such a node is no error, and a
// change that wants it is one.
func TestNodeWithoutOpenVSwitch(t *testing.T) {
	d := disk{root: t.TempDir()}
	if found := d.openVSwitchIfKnown(t.Context()); found != nil {
		t.Errorf("got %v", found)
	}
	if err := d.writeOpenVSwitch(t.Context(), state.Keys{"external_ids": {"gone": nil}}); err == nil {
		t.Error("it was written")
	}
}

// TestADatabaseThatIsIllKeepsNobodyFromTheProfiles: the way back reads it each time.
func TestADatabaseThatIsIllKeepsNobodyFromTheProfiles(t *testing.T) {
	for name, answer := range map[string]string{"it hangs up": echo, "it answers nonsense": "nonsense"} {
		t.Run(name, func(t *testing.T) {
			d, _ := talk(t, answer)
			if found := d.openVSwitchIfKnown(t.Context()); found != nil {
				t.Errorf("got %v", found)
			}
		})
	}
	t.Run("it never answers", func(t *testing.T) {
		d := disk{root: t.TempDir()}
		if err := os.MkdirAll(filepath.Dir(d.at(openVSwitchSocket)), 0o755); err != nil {
			t.Fatal(err)
		}
		listener, err := net.Listen("unix", d.at(openVSwitchSocket)) // Nobody accepts.
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = listener.Close() }()
		if found := d.openVSwitchIfKnown(t.Context()); found != nil {
			t.Errorf("got %v", found)
		}
	})
}

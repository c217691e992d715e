package rebuild

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
)

func packed(t *testing.T, files ...string) []byte {
	t.Helper()
	var raw bytes.Buffer
	zip := gzip.NewWriter(&raw)
	out := tar.NewWriter(zip)
	for i := 0; i < len(files); i += 2 {
		if err := out.WriteHeader(&tar.Header{Name: files[i], Mode: 0o644, Size: int64(len(files[i+1]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Write([]byte(files[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if out.Close() != nil || zip.Close() != nil {
		t.Fatal("packing failed")
	}
	return raw.Bytes()
}

func TestReadsAnArchive(t *testing.T) {
	const one = "kind: NodeNetworkState\nmetadata: {name: NAME}\nstatus: {currentState: {interfaces: [{name: eth0, type: ethernet}]}}\n"
	reports, err := Read(packed(t, "nmstate-report/README.txt", "no: yaml: at all", "nmstate-report/states/a.yaml", strings.Replace(one, "NAME", "a", 1), "nmstate-report/states/b.yaml", strings.Replace(one, "NAME", "b", 1)))
	if err != nil || len(reports) != 2 || reports[0].Name != "a" || reports[1].Name != "b" {
		t.Errorf("%v, %v", reports, err)
	}
	for want, raw := range map[string][]byte{
		"there is no NodeNetworkState in it":   packed(t, "nmstate-report/README.txt", "nothing"),
		"no archive of kubectl nmstate report": packed(t, "states/a.yaml", one)[:40],
		"no archive: ":                         {0x1f, 0x8b, 1},
	} {
		if _, err := Read(raw); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

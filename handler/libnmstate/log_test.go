package nmstate

import (
	"strings"
	"testing"
)

func TestLog(t *testing.T) {
	cases := map[string]struct{ log, want string }{
		"an empty log writes nothing":       {log: "", want: ""},
		"a log without entries too":         {log: "[]", want: ""},
		"noise alone is nothing":            {log: `[{"level":"WARN","msg":"WIFI query failed: x"}]`, want: ""},
		"the rest of a noisy log is kept":   {log: `[{"msg":"WIFI query failed"},{"msg":"a"}]`, want: `[{"msg":"a"}]` + "\n"},
		"what is no log of entries is kept": {log: "oops", want: "oops\n"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			if err := New(WithLogsWritter(&got)).writeLog(c.log); err != nil {
				t.Fatal(err)
			}
			if got.String() != c.want {
				t.Errorf("got %q, want %q", got.String(), c.want)
			}
		})
	}
}

func TestFlags(t *testing.T) {
	cases := map[string]struct {
		option func(*Nmstate)
		want   uint32
	}{
		"kernel only":         {WithKernelOnly(), 1 << 1},
		"no verify":           {WithNoVerify(), 1 << 2},
		"status data":         {WithIncludeStatusData(), 1 << 3},
		"secrets":             {WithIncludeSecrets(), 1 << 4},
		"no commit":           {WithNoCommit(), 1 << 5},
		"memory only":         {WithMemoryOnly(), 1 << 6},
		"running config only": {WithRunningConfigOnly(), 1 << 7},
	}
	for name, c := range cases {
		if got := New(c.option).flags; got != c.want {
			t.Errorf("%s: got flag %d, nmstate.h says %d", name, got, c.want)
		}
	}
}

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSummary(t *testing.T) {
	tests := map[string]struct {
		strict bool
		input  string
		want   string
		ok     bool
	}{
		"passing tests are counted, those with subtests only by these": {
			input: `
== unit tests
{"Action":"run","Package":"github.com/nmstate/kubernetes-nmstate/handler/txn","Test":"TestStep"}
{"Action":"run","Package":"github.com/nmstate/kubernetes-nmstate/handler/txn","Test":"TestStep/an_apply_that_fails"}
{"Action":"output","Package":"github.com/nmstate/kubernetes-nmstate/handler/txn","Test":"TestStep/an_apply_that_fails","Output":"=== RUN\n"}
{"Action":"pass","Package":"github.com/nmstate/kubernetes-nmstate/handler/txn","Test":"TestStep/an_apply_that_fails","Elapsed":0.1}
{"Action":"pass","Package":"github.com/nmstate/kubernetes-nmstate/handler/txn","Test":"TestStep","Elapsed":0.1}
{"Action":"pass","Package":"github.com/nmstate/kubernetes-nmstate/handler/txn","Elapsed":1.5}
{"Action":"skip","Package":"github.com/nmstate/kubernetes-nmstate/api","Elapsed":0}`,
			want: `
== unit tests
pass  handler/txn                                     2 tests    1.5 s

1 passed, 0 failed, 0 skipped (2s in tests)
`,
			ok: true,
		},
		"a failed test is shown with its output, its parent is not": {
			input: `
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"run","Package":"p","Test":"TestA/b"}
{"Action":"output","Package":"p","Test":"TestA/b","Output":"    a_test.go:7: want 1, got 2\n"}
{"Action":"fail","Package":"p","Test":"TestA/b"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- FAIL: TestA (0.00s)\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p","Elapsed":1}
exit status 1: go test -json ./...`,
			want: `
fail  p                                               2 tests    1.0 s

FAILED p TestA/b
        a_test.go:7: want 1, got 2

0 passed, 1 failed, 0 skipped (1s in tests)
`,
		},
		"skips are listed at the end, joined by their reason": {
			input: `
{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:7: needs root: sudo make test\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- SKIP: TestA (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:9: needs root: sudo make test\n"}
{"Action":"skip","Package":"p","Test":"TestB"}
skip: the lab: needs Linux
{"Action":"pass","Package":"p","Elapsed":1}`,
			want: `
pass  p                                               2 tests    1.0 s

Skipped, by reason:
  needs root: sudo make test
      p TestA, p TestB
  needs Linux
      the lab

0 passed, 0 failed, 3 skipped (1s in tests)
`,
			ok: true,
		},
		"a stage that was not run is a failure in strict mode": {
			strict: true,
			input:  "skip: the lab: needs Linux",
			want: `
FAILED the lab
    not run, and NMSTATE_STRICT=1 allows no skips: needs Linux

0 passed, 1 failed, 0 skipped (0s in tests)
`,
		},
		"a package that does not compile is a failure with the compiler's words": {
			input: `
{"Action":"build-output","ImportPath":"p [p.test]","Output":"p/a.go:3: undefined: b\n"}
{"Action":"build-fail","ImportPath":"p [p.test]"}
{"Action":"fail","Package":"p","Elapsed":0,"FailedBuild":"p [p.test]"}`,
			want: `
fail  p                                               0 tests    0.0 s

FAILED p
    p/a.go:3: undefined: b

0 passed, 1 failed, 0 skipped (0s in tests)
`,
		},
		"a package that ends outside every test is a failure": {
			input: `
{"Action":"output","Package":"p","Output":"panic: no\n"}
{"Action":"fail","Package":"p","Elapsed":0}`,
			want: `
fail  p                                               0 tests    0.0 s

FAILED p
    panic: no

0 passed, 1 failed, 0 skipped (0s in tests)
`,
		},
		"a command that fails without a failed test is a failure": {
			input: "go: no such flag\nexit status 2: go test -x-json",
			want: `
go: no such flag

FAILED exit status 2: go test -x-json
    no test says why: see the lines above

0 passed, 1 failed, 0 skipped (0s in tests)
`,
		},
		"the specs of a Ginkgo suite are told as they end, and counted": {
			input: `
{"Action":"output","Package":"p","Test":"TestSuite","Output":"\u001b[38;5;10m• [11.736 seconds]\u001b[0m\n"}
{"Action":"output","Package":"p","Test":"TestSuite","Output":"A handler killed with -9 leaves the node as before\n"}
{"Action":"output","Package":"p","Test":"TestSuite","Output":"/work/handler_test.go:42\n"}
{"Action":"output","Package":"p","Test":"TestSuite","Output":"------------------------------\n"}
{"Action":"output","Package":"p","Test":"TestSuite","Output":"• [FAILED] [2.5 seconds]\n"}
{"Action":"output","Package":"p","Test":"TestSuite","Output":"NetworkManager restarted is noticed\n"}
{"Action":"output","Package":"p","Test":"TestSuite","Output":"  [FAILED] want a, got b\n"}
{"Action":"output","Package":"p","Test":"TestSuite","Output":"------------------------------\n"}
{"Action":"output","Package":"p","Test":"TestSuite","Output":"S [SKIPPED] [0.001 seconds]\n"}
{"Action":"output","Package":"p","Test":"TestSuite","Output":"  [SKIPPED] no bonding in this kernel\n"}
{"Action":"output","Package":"p","Test":"TestSuite","Output":"------------------------------\n"}
{"Action":"output","Package":"p","Test":"TestSuite","Output":"FAIL! -- 7 Passed | 1 Failed | 0 Pending | 1 Skipped\n"}
{"Action":"fail","Package":"p","Test":"TestSuite"}
{"Action":"fail","Package":"p","Elapsed":20}`,
			want: `
      11.7 s  A handler killed with -9 leaves the node as before
      2.5 s  NetworkManager restarted is noticed
fail  p                                               9 tests   20.0 s

FAILED p TestSuite
    • [FAILED] [2.5 seconds]
    NetworkManager restarted is noticed
      [FAILED] want a, got b
    
    FAIL! -- 7 Passed | 1 Failed | 0 Pending | 1 Skipped

Skipped, by reason:
  no bonding in this kernel
      p TestSuite

7 passed, 1 failed, 1 skipped (20s in tests)
`,
		},
		"the skipped specs of a Ginkgo suite are named where the suite reports them": {
			input: `
{"Action":"output","Package":"p","Test":"TestSuite","Output":"Will run 3 of 9 specs\n"}
{"Action":"output","Package":"p","Test":"TestSuite","Output":"S [SKIPPED] [0.001 seconds]\n"}
{"Action":"output","Package":"p","Test":"TestSuite","Output":"  [SKIPPED] needs bond: no (such) link\n"}
{"Action":"output","Package":"p","Test":"TestSuite","Output":"------------------------------\n"}
{"Action":"output","Package":"p","Test":"TestSuite","Output":"[SKIPPED] needs bond: no (such) link (spec: Example 103-bond comes (late))\n"}
{"Action":"output","Package":"p","Test":"TestSuite","Output":"[SKIPPED] needs vrf: not supported (spec: Example vrf)\n"}
{"Action":"output","Package":"p","Test":"TestSuite","Output":"[SKIPPED] needs bond: no (such) link (spec: Example auto)\n"}
{"Action":"output","Package":"p","Test":"TestSuite","Output":"SUCCESS! -- 0 Passed | 0 Failed | 0 Pending | 9 Skipped\n"}
{"Action":"pass","Package":"p","Test":"TestSuite"}
{"Action":"pass","Package":"p","Elapsed":20}`,
			want: `
pass  p                                               3 tests   20.0 s

Skipped, by reason:
  needs bond: no (such) link
      Example 103-bond comes (late), Example auto
  needs vrf: not supported
      Example vrf

0 passed, 0 failed, 3 skipped (20s in tests)
`,
			ok: true,
		},
		"what another half of a Ginkgo suite has is not skipped": {
			input: `
{"Action":"output","Package":"p","Test":"TestSuite","Output":"Will run 2 of 9 specs\n"}
{"Action":"output","Package":"p","Test":"TestSuite","Output":"SUCCESS! -- 2 Passed | 0 Failed | 0 Pending | 7 Skipped\n"}
{"Action":"pass","Package":"p","Test":"TestSuite"}
{"Action":"pass","Package":"p","Elapsed":20}`,
			want: `
pass  p                                               2 tests   20.0 s

2 passed, 0 failed, 0 skipped (20s in tests)
`,
			ok: true,
		},
		"no test at all is a failure": {
			input: "",
			want: `
No test ran: is there anything above that says why?

0 passed, 1 failed, 0 skipped (0s in tests)
`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			summary := New(&out, test.strict)
			if err := read(strings.NewReader(strings.TrimPrefix(test.input, "\n")), summary); err != nil {
				t.Fatal(err)
			}
			ok := summary.Print()
			if difference := cmp.Diff(strings.TrimPrefix(test.want, "\n"), strings.TrimPrefix(out.String(), "\n")); difference != "" {
				t.Errorf("printed (-want +got):\n%s", difference)
			}
			if ok != test.ok {
				t.Errorf("success: want %v, got %v", test.ok, ok)
			}
		})
	}
}

package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sharded runs the shards of ten seeds and returns their files.
func sharded(t *testing.T, shards ...string) []string {
	t.Helper()
	var files []string
	for i, shard := range shards {
		out, err := said(t, "-seeds", "10", "-from", "41", "-json", "-shard", shard)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), string(rune('a'+i)))
		if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// timeless is a report without what the machine has to do with.
func timeless(t *testing.T, raw string) report {
	t.Helper()
	var r report
	if err := json.Unmarshal([]byte(raw), &r); err != nil {
		t.Fatal(err, raw)
	}
	r.Took, r.Longest, r.Slowest, r.Workers, r.SeedsPerMinute, r.NodeHoursPerSecond, r.Shards = 0, 0, slowest{}, 0, 0, 0, 0
	return r
}

func TestShardsTellTogetherWhatOneRunTells(t *testing.T) {
	whole, err := said(t, "-seeds", "10", "-from", "41", "-json")
	if err != nil {
		t.Fatal(err)
	}
	files := sharded(t, "2/3", "0/3", "1/3")
	merged, err := said(t, append([]string{"-merge", "-json"}, files...)...)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(timeless(t, whole), timeless(t, merged)); diff != "" {
		t.Error(diff)
	}
	for args, complaint := range map[string]string{
		files[0] + " " + files[1]:                                     "and the next one after 0 is 2",
		files[1] + " " + files[2]:                                     "there are 2 of 3 shards",
		files[0] + " " + files[1] + " " + files[2] + " " + files[1]:   "and the next one after 0 is 0",
		files[0] + " " + files[1] + " " + files[2] + " there/is/none": "no such file",
		"": "name the files",
	} {
		if _, err := said(t, append([]string{"-merge"}, strings.Fields(args)...)...); !errors.Is(err, errUsage) || !strings.Contains(err.Error(), complaint) {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func TestReportsAreMergedWithWhatBroke(t *testing.T) {
	of := func(shard uint64, set func(*report)) report {
		r := report{Range: seedRange{From: 1, Seeds: 20, Shard: shard, Of: 2, Version: "devel"}, Traces: "00000000000000ff", Took: time.Minute, Workers: 2}
		r.Figures.Runs = 10
		set(&r)
		return r
	}
	good := func(*report) {}
	tests := map[string]struct {
		second  func(*report)
		refused string
		broken  bool
	}{
		"nothing broke":                            {good, "", false},
		"one shard has a broken seed":              {func(r *report) { r.Figures.Broken, r.Broken = 1, []broken{{Seed: 4}} }, "", true},
		"one that is known fails nothing":          {func(r *report) { r.Broken = []broken{{Seed: 4, Known: "leases"}} }, "", false},
		"one shard was interrupted":                {func(r *report) { r.Missing = 7 }, "", true},
		"shards of other seeds":                    {func(r *report) { r.Range.From = 2 }, "another range", false},
		"shards of runs of another kind":           {func(r *report) { r.Range.Long = true }, "another range", false},
		"shards of another simulator":              {func(r *report) { r.Range.Version = "older" }, "another range", false},
		"shards of another number of shards":       {func(r *report) { r.Range.Of = 3 }, "another range", false},
		"a shard whose traces are no traces":       {func(r *report) { r.Traces = "none" }, "traces of shard 1", false},
		"the same shard twice, and one is missing": {func(r *report) { r.Range.Shard = 0 }, "want each", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			merged, err := mergeReports([]report{of(1, test.second), of(0, good)})
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error(), test.refused) {
					t.Fatalf("%v, want %q", err, test.refused)
				}
				return
			}
			if err != nil || merged.Figures.Runs != 20 || merged.Traces != "00000000000001fe" || merged.Took != 2*time.Minute || merged.Longest != time.Minute || merged.SeedsPerMinute != 10 {
				t.Fatal(err, merged)
			}
			var out strings.Builder
			if err := (&options{}).report(&out, merged); errors.Is(err, errBroken) != test.broken {
				t.Errorf("%v:\n%s", err, out.String())
			}
		})
	}
}

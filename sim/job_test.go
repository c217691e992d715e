package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"
)

// The API server would refuse a field that it does not know, and the pods their flags.
func TestTheJobRunsEachShardOnce(t *testing.T) {
	raw, err := os.ReadFile("job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var job batchv1.Job
	if err := yaml.UnmarshalStrict(raw, &job); err != nil {
		t.Fatal(err)
	}
	if mode := job.Spec.CompletionMode; mode == nil || *mode != batchv1.IndexedCompletion {
		t.Fatal("the pods have no index, and would all run the same shard")
	}
	seen := map[uint64]bool{}
	for index := range *job.Spec.Completions {
		o := options{}
		cmd := &cobra.Command{}
		o.addFlags(cmd)
		var args []string
		for _, arg := range job.Spec.Template.Spec.Containers[0].Args {
			args = append(args, strings.ReplaceAll(arg, "$(JOB_COMPLETION_INDEX)", fmt.Sprint(index)))
		}
		if err := cmd.ParseFlags(twoDashes(args)); err != nil {
			t.Fatal(err)
		}
		if err := o.check(); err != nil {
			t.Fatal(err)
		}
		if !o.json || o.shards.of != uint64(*job.Spec.Completions) || seen[o.shards.index] {
			t.Fatalf("pod %d: %v", index, args)
		}
		seen[o.shards.index] = true
	}
}

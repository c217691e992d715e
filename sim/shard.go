package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/nmstate/kubernetes-nmstate/sim/fault"
)

// shards split a range of seeds over machines: shard I of N runs every Nth seed, from
// the Ith on. Each tells its result as JSON, and all together are merged into one report.
type shards struct {
	// shard is "I/N"; empty for all seeds.
	shard     string
	index, of uint64
	merge     bool
	files     []string
}

func (s *shards) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&s.shard, "shard", "", "with -seeds: run only shard I of N of them, \"I/N\" with I from 0; -json and -merge make one report of all N")
	flags.BoolVar(&s.merge, "merge", false, "make one report of the files of all shards, \"-\" for one with all of them after each other")
}

// args takes the files of -merge, the only arguments that there are.
func (s *shards) args(args []string) error {
	if len(args) > 0 && !s.merge {
		return fmt.Errorf("%w: unexpected argument %q", errUsage, args[0])
	}
	if s.merge && len(args) == 0 {
		return fmt.Errorf("%w: -merge: name the files that the shards have written with -json", errUsage)
	}
	s.files = args
	return nil
}

// check reads I/N.
func (s *shards) check() error {
	s.index, s.of = 0, 1
	if s.shard == "" {
		return nil
	}
	index, of, _ := strings.Cut(s.shard, "/")
	var errIndex, errOf error
	s.index, errIndex = strconv.ParseUint(index, 10, 32)
	s.of, errOf = strconv.ParseUint(of, 10, 32)
	if errIndex != nil || errOf != nil || s.index >= s.of {
		return fmt.Errorf("%w: -shard %q: want I/N, with I from 0 to N-1", errUsage, s.shard)
	}
	return nil
}

func (s *shards) first() uint64 { return s.index }

func (s *shards) step() uint64 { return max(s.of, 1) }

// seedRange is which seeds, and how they were run: what shards have to have in common.
type seedRange struct {
	From  uint64 `json:"from"`
	Seeds uint64 `json:"seeds"`
	// Shard of Of, from 0.
	Shard uint64   `json:"shard"`
	Of    uint64   `json:"of"`
	Long  bool     `json:"long,omitempty"`
	Lean  bool     `json:"lean,omitempty"`
	Nodes int      `json:"nodes,omitempty"`
	Arm   []string `json:"arm,omitempty"`
	Rule  string   `json:"rule,omitempty"`
	// Version of the simulator.
	Version string `json:"version"`
}

func (o *options) seedRange() seedRange {
	return seedRange{
		From: o.from, Seeds: o.seeds, Shard: o.shards.index, Of: o.shards.step(), Long: o.long, Lean: o.lean,
		Nodes: o.nodes, Arm: o.always, Rule: o.rule, Version: version,
	}
}

// share is how many seeds the shard has.
func (r seedRange) share() int {
	if r.Shard >= r.Seeds {
		return 0
	}
	return int((r.Seeds - r.Shard + r.Of - 1) / r.Of)
}

func (r seedRange) saying(runs int) string {
	if r.Of > 1 {
		return fmt.Sprintf("%d seeds, shard %d of %d from %d", runs, r.Shard, r.Of, r.From)
	}
	return fmt.Sprintf("%d seeds from %d", runs, r.From)
}

// allShards is the range without which shard of it.
func (r seedRange) allShards() string {
	r.Shard = 0
	raw, err := json.Marshal(r)
	if err != nil { // It is numbers and words.
		panic(err)
	}
	return string(raw)
}

// mergeShards makes one report of the reports of all shards of a range.
func (o *options) mergeShards(in io.Reader, out io.Writer) error {
	var all []report
	for _, name := range o.shards.files {
		found, err := readReports(in, name)
		if err != nil {
			return fmt.Errorf("%w: -merge: %w", errUsage, err)
		}
		all = append(all, found...)
	}
	merged, err := mergeReports(all)
	if err != nil {
		return fmt.Errorf("%w: -merge: %w", errUsage, err)
	}
	return o.report(out, merged)
}

func readReports(in io.Reader, name string) (all []report, err error) {
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		in = file
	}
	decoder := json.NewDecoder(in)
	for {
		var one report
		switch err := decoder.Decode(&one); {
		case errors.Is(err, io.EOF) && len(all) > 0:
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("reading %s: %w", name, err)
		case one.Range.Of == 0:
			return nil, fmt.Errorf("reading %s: it is no report of -seeds -json", name) //nolint:err113 // For a person.
		}
		all = append(all, one)
	}
}

// mergeReports adds up reports, which have to be all shards of one range.
func mergeReports(all []report) (report, error) {
	slices.SortFunc(all, func(a, b report) int { return int(a.Range.Shard) - int(b.Range.Shard) })
	merged := report{Range: all[0].Range, Reached: fault.Coverage{}, Met: fault.Met{}}
	traces := uint64(0)
	for i, one := range all {
		if one.Range.allShards() != all[0].Range.allShards() {
			return report{}, fmt.Errorf("shard %d is of another range than shard %d: %s and %s", one.Range.Shard, all[0].Range.Shard, one.Range.allShards(), all[0].Range.allShards()) //nolint:err113 // For a person.
		}
		if one.Range.Shard != uint64(i) {
			return report{}, fmt.Errorf("want each of the %d shards once, and the next one after %d is %d", one.Range.Of, i-1, one.Range.Shard) //nolint:err113 // For a person.
		}
		hash, err := strconv.ParseUint(one.Traces, 16, 64)
		if err != nil {
			return report{}, fmt.Errorf("traces of shard %d: %w", i, err)
		}
		traces += hash
		merged.Figures.Add(one.Figures)
		merged.Reached.Add(one.Reached)
		merged.Met.Add(one.Met)
		merged.Broken = append(merged.Broken, one.Broken...)
		merged.Missing += one.Missing
		merged.Workers = max(merged.Workers, one.Workers)
		merged.Took += one.Took
		merged.Longest = max(merged.Longest, one.Took)
		if one.Slowest.Took > merged.Slowest.Took {
			merged.Slowest = one.Slowest
		}
	}
	if uint64(len(all)) != merged.Range.Of {
		return report{}, fmt.Errorf("there are %d of %d shards: shard %d is missing", len(all), merged.Range.Of, len(all)) //nolint:err113 // For a person.
	}
	merged.Range.Of, merged.Shards = 1, len(all)
	merged.pace()
	merged.Traces, merged.Zeros = fmt.Sprintf("%016x", traces), merged.Reached.Zeros(merged.Range.Lean)
	return merged, nil
}

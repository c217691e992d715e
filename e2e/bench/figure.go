//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// figure is one thing that is measured, once or in several runs.
type figure struct {
	// Name says what was measured and how: "bridge, DNS does not answer: policy over bare".
	Name string `json:"name"`
	// Unit of the values: "s", "ratio", "requests", "MiB", "percent" or "count".
	Unit   string    `json:"unit"`
	Values []float64 `json:"values"`
	// Goal is the most that the median may be; nil where there is none.
	Goal *float64 `json:"goal,omitempty"`
}

// figure adds values to the figure of that name.
func (b *bench) figure(name, unit string, goal *float64, values ...float64) {
	for i := range b.figures {
		if b.figures[i].Name == name {
			b.figures[i].Values = append(b.figures[i].Values, values...)
			return
		}
	}
	b.figures = append(b.figures, figure{Name: name, Unit: unit, Values: values, Goal: goal})
}

// median of the values; of an even number the upper one.
func (f figure) median() float64 {
	sorted := slices.Sorted(slices.Values(f.Values))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)/2]
}

func (f figure) verdict() string {
	switch {
	case f.Goal == nil || len(f.Values) == 0:
		return ""
	case f.median() <= *f.Goal:
		return "yes"
	}
	return "NO"
}

// How the figures are printed at the end (--output).
const (
	outputTable     = "table"
	outputJSON      = "json"
	outputBenchmark = "benchmark"
)

var outputs = []string{outputTable, outputJSON, outputBenchmark}

// printFigures writes all figures at the end of a run.
func printFigures(to io.Writer, output string, figures []figure) error {
	switch output {
	case outputJSON:
		encoder := json.NewEncoder(to)
		encoder.SetIndent("", "  ")
		return encoder.Encode(figures)
	case outputBenchmark:
		return printBenchmark(to, figures)
	}
	if _, err := fmt.Fprint(to, "\n== all figures\n\n"); err != nil {
		return err
	}
	out := tabwriter.NewWriter(to, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(out, "figure\tmedian\tfrom\tto\truns\tgoal\treached")
	for _, f := range figures {
		if len(f.Values) == 0 {
			continue
		}
		goal := ""
		if f.Goal != nil {
			goal = "at most " + number(*f.Goal)
		}
		_, _ = fmt.Fprintf(out, "%s\t%s %s\t%s\t%s\t%d\t%s\t%s\n", f.Name, number(f.median()), f.Unit,
			number(slices.Min(f.Values)), number(slices.Max(f.Values)), len(f.Values), goal, f.verdict())
	}
	return out.Flush()
}

// printBenchmark writes Go's benchmark format, which benchstat compares.
func printBenchmark(to io.Writer, figures []figure) error {
	for _, f := range figures {
		name := strings.NewReplacer(" ", "_", ":", "", ",", "").Replace(f.Name)
		for _, value := range f.Values {
			if _, err := fmt.Fprintf(to, "Benchmark%s 1 %g %s\n", strings.ToUpper(name[:1])+name[1:], value, f.Unit); err != nil {
				return err
			}
		}
	}
	return nil
}

func number(value float64) string { return strings.TrimSuffix(fmt.Sprintf("%.2f", value), ".00") }

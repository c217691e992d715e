package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
)

// longestLine bounds one line of input; a test's output comes in many events.
const longestLine = 16 << 20

func main() {
	if len(os.Args) > 1 {
		fmt.Fprintln(os.Stderr, "testsummary: takes no arguments; pipe the output of go test -json into it")
		os.Exit(2)
	}
	summary := New(os.Stdout, os.Getenv("NMSTATE_STRICT") == "1")
	if err := read(os.Stdin, summary); err != nil {
		fmt.Fprintln(os.Stderr, "testsummary:", err)
		os.Exit(2)
	}
	if !summary.Print() {
		os.Exit(1)
	}
}

func read(input io.Reader, summary *Summary) error {
	lines := bufio.NewScanner(input)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		summary.Line(lines.Bytes())
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("reading what go test printed: %w", err)
	}
	return nil
}

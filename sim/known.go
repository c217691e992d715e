package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"github.com/nmstate/kubernetes-nmstate/sim/oracle"
)

// known are violations that were looked at and are still there: they are listed and
// fail nothing. Keys are "SEED RULE", or "* RULE" for all seeds.
type known map[string]string

// readKnown reads lines "SEED RULE why"; empty ones and those after # say nothing.
func readKnown(file string) (known, error) {
	all := known{}
	if file == "" {
		return all, nil
	}
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.SplitN(line, " ", 3)
		if len(words) < 3 {
			return nil, fmt.Errorf("%s: %q is not \"SEED RULE why\"", file, line)
		}
		all[words[0]+" "+words[1]] = words[2]
	}
	return all, lines.Err()
}

// why a violation is known; empty for one that is not.
func (k known) why(seed uint64, v oracle.Violation) string {
	if why, is := k[fmt.Sprint(seed, " ", v.Rule)]; is {
		return why
	}
	return k["* "+v.Rule]
}

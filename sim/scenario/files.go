package scenario

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed files/*.txtar
var files embed.FS

// All are the scenarios of this package, by name. Their errors are those of all
// files.
func All() ([]*Scenario, error) {
	entries, err := files.ReadDir("files")
	if err != nil {
		return nil, fmt.Errorf("listing the scenarios: %w", err)
	}
	var all []*Scenario
	var wrong []string
	for _, e := range entries {
		raw, err := files.ReadFile("files/" + e.Name())
		if err != nil {
			return nil, fmt.Errorf("reading a scenario: %w", err)
		}
		s, err := Parse(e.Name(), raw)
		if err != nil {
			wrong = append(wrong, err.Error())
			continue
		}
		all = append(all, s)
	}
	if len(wrong) > 0 {
		return nil, fmt.Errorf("scenarios:\n%s", strings.Join(wrong, "\n"))
	}
	return all, nil
}

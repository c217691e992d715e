package docs

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Example is a file of examples/ with policies in it.
type Example struct {
	// Name of the file, without folder and ending.
	Name string
	// Text is the file; Manifests are its objects.
	Text      string
	Manifests []string
	Outcome   Outcome
}

// Outcome is what comes of an example on the lab, as its first line says:
//
//	# Lab: Available
//	# Lab: Available, once confirmed
//	# Lab: Planned
//	# Lab: Failing: part of the message
//	# Lab: needs bond
type Outcome struct {
	// Status is a condition that becomes True: Available, Failing or Planned;
	// empty if Needs is not.
	Status string
	// Then is what a person does so that it becomes Available, or after it did.
	Then Step
	// Message is a part of the condition's message.
	Message string
	// Needs is a feature that the machine may lack.
	Needs string
}

// Step is something that a person does besides applying an example.
type Step string

// The steps.
const (
	NoStep  Step = ""
	Confirm Step = ", once confirmed"
	Resume  Step = ", once resumed"
	Delete  Step = ", and undone when deleted"
)

// outcomeLine is the first line of an example.
var outcomeLine = regexp.MustCompile(`\A# Lab: (.+)\n`)

func outcomeOf(text string) (Outcome, error) {
	found := outcomeLine.FindStringSubmatch(text)
	if found == nil {
		return Outcome{}, fmt.Errorf("the first line does not say what comes of it on the lab: want %q", "# Lab: ...")
	}
	said := found[1]
	if needs, ok := strings.CutPrefix(said, "needs "); ok {
		return Outcome{Needs: needs}, nil
	}
	if message, ok := strings.CutPrefix(said, "Failing: "); ok {
		return Outcome{Status: "Failing", Message: message}, nil
	}
	if said == "Planned" {
		return Outcome{Status: said}, nil
	}
	then, ok := strings.CutPrefix(said, "Available")
	if step := Step(then); ok && slices.Contains([]Step{NoStep, Confirm, Resume, Delete}, step) {
		return Outcome{Status: "Available", Then: step}, nil
	}
	return Outcome{}, fmt.Errorf("%q is no outcome: want Available, Planned, \"Failing: part of the message\" or \"needs FEATURE\"", said)
}

// Examples reads the examples with policies, sorted by name. Files of another
// kind, such as topologies of the lab, are left out.
func Examples(files fs.FS) ([]Example, error) {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("looking for examples: %w", err)
	}
	var all []Example
	for _, name := range names {
		raw, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("reading an example: %w", err)
		}
		text := string(raw)
		if !strings.Contains(text, "\nkind: NodeNetworkConfigurationPolicy\n") {
			continue
		}
		outcome, err := outcomeOf(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, Example{
			Name: strings.TrimSuffix(name, path.Ext(name)), Text: text,
			Manifests: strings.Split(text, "\n---\n"), Outcome: outcome,
		})
	}
	return all, nil
}

package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// script is a program of this repository, or a make target, where a workflow runs one.
var script = regexp.MustCompile(`(?m)^\s*((?:\.ci|hack|kind)/\S+|make [a-z][a-z0-9-]*)`)

// The forge's files run nowhere here, so what they call has to be there.
func TestWorkflowsCallWhatThereIs(t *testing.T) {
	files, err := filepath.Glob("../.github/workflows/*.yaml")
	if err != nil || len(files) < 2 {
		t.Fatalf("workflows: %v %v", files, err)
	}
	makefile, called := read(t, "../Makefile"), map[string]bool{}
	for _, name := range files {
		var workflow struct {
			Jobs map[string]struct {
				Steps []struct {
					Name, Run, Uses string
				}
			}
		}
		if err := yaml.Unmarshal([]byte(read(t, name)), &workflow); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, job := range workflow.Jobs {
			for _, step := range job.Steps {
				if (step.Run == "") == (step.Uses == "") {
					t.Errorf("%s: step %q runs nothing, or two things", name, step.Name)
				}
				check := exec.CommandContext(t.Context(), "bash", "-n")
				check.Stdin = strings.NewReader(step.Run)
				if out, err := check.CombinedOutput(); err != nil {
					t.Errorf("%s: step %q: %v %s", name, step.Name, err, out)
				}
				for _, found := range script.FindAllStringSubmatch(step.Run, -1) {
					called[found[1]] = true
					if target, is := strings.CutPrefix(found[1], "make "); is && !strings.Contains(makefile, "\n"+target+":") {
						t.Errorf("%s: there is no %s", name, found[1])
					} else if _, err := os.Stat(filepath.Join("..", found[1])); !is && err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
			}
		}
	}
	for _, what := range []string{".ci/run", "make release"} {
		if !called[what] {
			t.Errorf("no workflow calls %s", what)
		}
	}
}

// Forms that the forge does not understand it shows to nobody.
func TestTheFormsForIssuesAreForms(t *testing.T) {
	files, err := filepath.Glob("../.github/ISSUE_TEMPLATE/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("forms: %v %v", files, err)
	}
	for _, name := range files {
		var form struct {
			Name, Description string
			Body              []struct {
				Type       string
				Attributes struct{ Label, Value string }
			}
		}
		if err := yaml.Unmarshal([]byte(read(t, name)), &form); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if form.Name == "" || form.Description == "" || len(form.Body) == 0 {
			t.Errorf("%s: it needs a name, a description and questions", name)
		}
		for _, one := range form.Body {
			if one.Type == "markdown" && one.Attributes.Value == "" || one.Type != "markdown" && one.Attributes.Label == "" {
				t.Errorf("%s: a %s without its text", name, one.Type)
			}
		}
	}
}

package scenario

import "testing"

func TestAllScenariosParse(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	lab := 0
	for _, s := range all {
		if s.About == "" {
			t.Errorf("%s: says nothing about itself", s.Name)
		}
		if s.OnlySim == "" && len(s.Needs) == 0 {
			lab++
		}
		for file, text := range s.Files {
			if _, err := manifests(text); err != nil && file != "hand.yaml" {
				t.Errorf("%s: %s: %v", s.Name, file, err)
			}
		}
	}
	t.Logf("%d scenarios, of which %d run on every lab", len(all), lab)
	if len(all) < 60 || lab < 20 {
		t.Errorf("%d scenarios, %d for the lab", len(all), lab)
	}
}

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
		if s.OnlySim == "" && !s.Seldom && len(s.Needs) == 0 {
			lab++
		}
		for file, text := range s.Files {
			if _, err := manifests(text); err != nil && file != "hand.yaml" {
				t.Errorf("%s: %s: %v", s.Name, file, err)
			}
		}
	}
	t.Logf("%d scenarios, of which %d run on every lab", len(all), lab)
	if len(all) < 60 || lab < 20 || lab > 30 {
		t.Errorf("%d scenarios, %d for the lab", len(all), lab)
	}
}

// TestEverythingThatCanBeSaidIsSaid: a command, a check, a row of the tables, a
// phase or a type of probe that no scenario uses is one that nobody tries.
func TestEverythingThatCanBeSaidIsSaid(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	unused := map[string]bool{}
	for _, table := range [][]form{commands, checks} {
		for _, f := range table {
			unused[f.usage] = f.does != nil || f.holds != nil
		}
	}
	for name := range policyRows {
		unused["policy row "+name] = true
	}
	for name := range enactmentRows {
		unused["enactment row "+name] = true
	}
	for _, phase := range []string{"Baseline", "Arming", "Applying", "Probing", "Committing", "RollingBack", "Settling"} {
		unused["the handler killed in "+phase] = true
	}
	for _, probe := range []string{"ping", "dns", "tcp", "http", "confirm"} {
		unused["probe "+probe] = true
	}
	for _, s := range all {
		for _, step := range s.Steps {
			unused[step.form.usage] = false
			if step.Check != nil {
				unused[step.Check.form.usage] = false
				unused["policy row "+step.Check.Args["POLICYROW"]] = false
				unused["enactment row "+step.Check.Args["ROW"]] = false
			}
			if step.Args["kill|stop|start|restart"] == "kill" {
				unused["the handler killed in "+step.Args["PHASE"]] = false
			}
		}
		for _, text := range s.Files {
			policies, _ := manifests(text)
			for _, p := range policies {
				for _, probe := range p.Spec.Probes {
					unused["probe "+string(probe.Type)] = false
				}
			}
		}
	}
	for what, is := range unused {
		if is {
			t.Errorf("no scenario has: %s", what)
		}
	}
}

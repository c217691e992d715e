package state

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAReportTellsScripts(t *testing.T) {
	up := ScriptContent("eth1", PostActivation, "echo 1\necho 2")
	for name, c := range map[string]struct {
		file, content string
		unrunnable    bool
		want          string
	}{
		"as nmstate writes it":              {file: "nmstate-eth1-up.sh", content: up, want: `{"post-activation":"echo 1\necho 2"}`},
		"of a name with dashes":             {file: "nmstate-br-ex-down.sh", content: ScriptContent("br-ex", PostDeactivation, "echo"), want: `{"post-deactivation":"echo"}`},
		"that ends in a blank line":         {file: "nmstate-eth1-up.sh", content: ScriptContent("eth1", PostActivation, "echo\n"), want: `{"post-activation":"echo\n"}`},
		"of an administrator":               {file: "nmstate-eth1-up.sh", content: "#!/bin/sh\n", want: `{"post-activation":"#!/bin/sh\n"}`},
		"that somebody has changed":         {file: "nmstate-eth1-up.sh", content: up + "reboot\n", want: `{"post-activation":"` + jsonText(up+"reboot\n") + `"}`},
		"that NetworkManager would not run": {file: "nmstate-eth1-up.sh", content: up, unrunnable: true, want: `{"post-activation":"` + jsonText(up) + `"}`},
		"of nobody that nmstate knows":      {file: "10-up.sh", content: up, want: `null`},
		"of another time":                   {file: "nmstate-eth1-pre-up", content: up, want: `null`},
		"of an interface that there is not": {file: "nmstate-eth9-up.sh", content: up, want: `null`},
		"without a text":                    {file: "nmstate-eth1-up.sh", content: ScriptContent("eth1", PostActivation, ""), want: `null`},
	} {
		t.Run(name, func(t *testing.T) {
			scripts := Scripts{}
			scripts.Add(c.file, c.content, !c.unrunnable)
			report, err := Parse([]byte(`{"interfaces":[{"name":"eth1","type":"ethernet","dispatch":{"post-activation":"of before"}},{"name":"br-ex","type":"linux-bridge"}]}`))
			if err != nil {
				t.Fatal(err)
			}
			got := "null"
			for _, one := range report.WithScripts(scripts).Interfaces() {
				if told := object(one.Tree()["dispatch"]); told != nil {
					got = string(FromTree(told).JSON())
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("what is told differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestScriptsAreAsNmstateWritesThem(t *testing.T) {
	const want = `#!/usr/bin/bash
if [ "$1" == "eth1" ] && { [ "$2" == "up" ] || [ "$2" == "reapply" ]; }; then
## NMSTATE DISPATCH SCRIPT START
echo 1
## NMSTATE DISPATCH SCRIPT END
fi
`
	if diff := cmp.Diff(want, ScriptContent("eth1", PostActivation, "echo 1")); diff != "" {
		t.Errorf("the file differs (-want +got):\n%s", diff)
	}
}

func TestAnInterfaceThatIsToBeAbsentHasNoScript(t *testing.T) {
	desired, err := Parse([]byte(`{"interfaces":[{"name":"eth1","state":"absent"},{"name":"eth2","dispatch":{"post-activation":"true"}},{"name":"eth3"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := Scripts{"eth1": {PostActivation: "", PostDeactivation: ""}, "eth2": {PostActivation: "true"}}
	if diff := cmp.Diff(want, desired.Scripts()); diff != "" {
		t.Errorf("the scripts differ (-want +got):\n%s", diff)
	}
	if tried := desired.ForTrial(); tried.SaysScripts() {
		t.Errorf("the trial has scripts: %s", tried.JSON())
	}
}

// jsonText is a text as it stands between quotes in JSON.
func jsonText(text string) string {
	raw := FromTree(map[string]any{"x": text}).JSON()
	return string(raw[len(`{"x":"`) : len(raw)-len(`"}`)])
}

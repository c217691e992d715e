package logs

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestTheLogIsTextForAPersonAndJSONForPrograms(t *testing.T) {
	const text = `^\d\d:\d\d:\d\d\.\d{3}\tINFO\ttransaction\t\{"phase": "Probing"\}\n$`
	const object = `^\{"level":"info","ts":"[^"]+","msg":"transaction","phase":"Probing"\}\n$`
	for sentence, c := range map[string]struct {
		flags      []string
		isTerminal bool
		want       string
	}{
		"a terminal":                        {nil, true, text},
		"no terminal":                       {nil, false, object},
		"a terminal that is to have JSON":   {[]string{"--log-format", "json"}, true, object},
		"a file that is to have text":       {[]string{"--log-format=text"}, false, text},
		"what is for debugging is left out": {[]string{"--log-level=info"}, false, object},
	} {
		t.Run(sentence, func(t *testing.T) {
			options, out := parsed(t, c.flags...), &bytes.Buffer{}
			log := options.logger(out, c.isTerminal)
			log.V(1).Info("detail")
			log.Info("transaction", "phase", "Probing")
			if !regexp.MustCompile(c.want).Match(out.Bytes()) {
				t.Errorf("got %q, want %s", out, c.want)
			}
		})
	}
}

func TestDebugTellsMore(t *testing.T) {
	out := &bytes.Buffer{}
	options := parsed(t, "--log-level", "debug")
	options.logger(out, false).V(1).Info("detail")
	var line struct{ Msg string }
	if err := json.Unmarshal(out.Bytes(), &line); err != nil || line.Msg != "detail" {
		t.Errorf("got %q: %v", out, err)
	}
}

func TestOtherValuesAreRefused(t *testing.T) {
	for flag, want := range map[string]string{
		"--log-level=loud": `--log-level "loud": want info or debug`,
		"--log-format=xml": `--log-format "xml": want text or json`,
	} {
		options := parsed(t, flag)
		if err := options.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", flag, err, want)
		}
	}
}

func parsed(t *testing.T, args ...string) Options {
	t.Helper()
	options, cmd := Options{}, &cobra.Command{}
	options.AddFlags(cmd)
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	return options
}

package idle

import (
	"slices"
	"strings"
	"testing"
)

func TestWhatAStatusTellsIsBounded(t *testing.T) {
	for name, c := range map[string]struct{ got, want string }{
		"a message is one line":                {Message(" it failed:\n\tno answer "), "it failed: no answer"},
		"a message of 1024 bytes is whole":     {Message(strings.Repeat("x", 1024)), strings.Repeat("x", 1024)},
		"a longer one is cut":                  {Message(strings.Repeat("x", 1025)), strings.Repeat("x", 1021) + "..."},
		"a value keeps its spaces":             {Value("a  b"), "a  b"},
		"a value is cut at 256 bytes":          {Value(strings.Repeat("x", 257)), strings.Repeat("x", 253) + "..."},
		"no letter is cut in two":              {Short("ääää", 6), "ä..."},
		"twenty lines are all of them":         {strings.Join(Lines(slices.Repeat([]string{"l"}, 20)), ""), strings.Repeat("l", 20)},
		"of more the number is told":           {strings.Join(Lines(slices.Repeat([]string{"l"}, 22)), ""), strings.Repeat("l", 20) + "and 2 more"},
		"a list of nothing has no line at all": {strings.Join(Lines(nil), "x"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if c.got != c.want {
				t.Errorf("got %q, want %q", c.got, c.want)
			}
		})
	}
	all := slices.Repeat([]string{"l"}, 30)
	if Lines(all); all[20] != "l" {
		t.Error("the list itself was written to")
	}
}

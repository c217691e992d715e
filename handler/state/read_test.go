package state_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// byLibrary is what encoding/json makes of a document.
func byLibrary(raw []byte) (map[string]any, bool) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, true
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var tree map[string]any
	if decoder.Decode(&tree) != nil {
		return nil, false
	}
	_, err := decoder.Token()
	return tree, errors.Is(err, io.EOF)
}

// checkReading: a document is read and written as encoding/json does both.
func checkReading(t *testing.T, raw []byte) {
	t.Helper()
	want, ok := byLibrary(raw)
	got, err := state.Parse(raw)
	if ok != (err == nil) {
		t.Fatalf("%q: encoding/json takes it: %t; Parse: %v", raw, ok, err)
	}
	if !ok {
		return
	}
	if tree := got.Tree(); !reflect.DeepEqual(want, tree) { // cmp takes for ever where lists are deep.
		t.Fatalf("%q: %#v, want %#v", raw, tree, want)
	}
	written := []byte("{}")
	if want != nil {
		if written, err = json.Marshal(want); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(written), string(got.JSON())); diff != "" {
		t.Fatalf("%q:\n%s", raw, diff)
	}
	again, err := state.Parse(written)
	if err != nil || !again.Equal(got) || !got.Equal(again) {
		t.Fatalf("%q is not what its own JSON is: %v", raw, err)
	}
}

// documents are what is hard about JSON, each of them a state or no state.
func documents() []string {
	values := []string{
		`null`, `true`, `false`, `tru`, `nul`, `truefalse`, `0`, `-0`, `-`, `01`, `1.5`, `1.`, `.5`, `1e9`, `1E+9`, `1e`, `1e+`, `-1.25e-3`, `12345678901234567890`, `+1`, `0x1`,
		`""`, `"a`, `"a\"b"`, `"a\\"`, `"\`, `"\u00e9"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\u00g0"`, `"é"`, "\"\xff\"", "\"\x00\"", "\"\n\"", `"\n\t"`, `"<&>"`, "\"\u2028\"", "\"\x7f\"",
		`[]`, `[ ]`, `[1]`, `[1,]`, `[,1]`, `[1 2]`, `[[],{}]`, `[`, `]`, `{}`, `{ }`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{"a":1,"a":2}`, `{"b":1,"a":{"c":[true]}}`, `{a:1}`, `{"é\n":1}`, `{"":0}`, `{`,
	}
	all := []string{``, ` `, `null`, `[]`, `"a"`, `{}`, "\t{ } \r\n", `{}{}`, `{} x`, `{"a":1}}`, "\xef\xbb\xbf{}"}
	for _, value := range values {
		all = append(all, `{"k":`+value+`}`, ` { "k" : `+value+` , "l" : 1 } `, value)
	}
	for _, deep := range []int{900, 1100, 11000} {
		all = append(all, `{"k":`+strings.Repeat("[", deep)+strings.Repeat("]", deep)+`}`)
	}
	return all
}

func TestAStateIsReadAndWrittenAsTheLibraryDoesIt(t *testing.T) {
	for _, document := range documents() {
		checkReading(t, []byte(document))
	}
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for end := range raw { // One that breaks off is no state, and no panic.
			if _, err := state.Parse(raw[:end]); err == nil && len(bytes.TrimSpace(raw[:end])) > 0 && len(bytes.TrimSpace(raw[end:])) > 0 {
				t.Fatalf("%s: its first %d bytes are taken", file, end)
			}
		}
		checkReading(t, raw)
	}
}

func FuzzParse(f *testing.F) {
	for _, document := range documents() {
		if len(document) < 100 {
			f.Add([]byte(document))
		}
	}
	f.Fuzz(checkReading)
}

func TestStatesAreEqualWhateverTheOrderOfTheirKeys(t *testing.T) {
	tests := map[string]struct {
		a, b string
		want bool
	}{
		"nothing and an empty object":       {``, `{}`, true},
		"another order":                     {`{"a":1,"b":[{"c":2,"d":3}]}`, `{"b":[{"d":3,"c":2}],"a":1}`, true},
		"a number and its text":             {`{"a":1}`, `{"a":"1"}`, false},
		"another spelling of a number":      {`{"a":1}`, `{"a":1.0}`, false},
		"a key that is missing":             {`{"a":1}`, `{"b":1}`, false},
		"null and no key":                   {`{"a":null}`, `{}`, false},
		"another order of a list":           {`{"a":[1,2]}`, `{"a":[2,1]}`, false},
		"a longer list":                     {`{"a":[1]}`, `{"a":[1,2]}`, false},
		"an empty list and an empty object": {`{"a":[]}`, `{"a":{}}`, false},
		"false and null":                    {`{"a":false}`, `{"a":null}`, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a, errA := state.Parse([]byte(test.a))
			b, errB := state.Parse([]byte(test.b))
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			if a.Equal(b) != test.want || b.Equal(a) != test.want {
				t.Errorf("equal: %t", a.Equal(b))
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	raw, err := os.ReadFile("testdata/report-node1.json")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if _, err := state.Parse(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkJSON(b *testing.B) {
	raw, err := os.ReadFile("testdata/report-node1.json")
	if err != nil {
		b.Fatal(err)
	}
	read, err := state.Parse(raw)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		read.JSON()
	}
}

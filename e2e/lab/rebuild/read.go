package rebuild

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Report is what one node has said of its network.
type Report struct {
	// Name of the node; empty where a bare state has no host name.
	Name  string
	State state.State
	// Omitted are the parts that a report which is too large leaves out.
	Omitted []string
}

// document is a NodeNetworkState, a list of them, or a bare state.
type document struct {
	Kind     string            `json:"kind"`
	Items    []json.RawMessage `json:"items"`
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Status struct {
		CurrentState json.RawMessage `json:"currentState"`
		Truncated    *struct {
			Omitted []struct {
				Section string `json:"section"`
				Type    string `json:"type"`
				Count   int64  `json:"count"`
			} `json:"omitted"`
		} `json:"truncated"`
	} `json:"status"`
	Interfaces json.RawMessage `json:"interfaces"`
}

// Read reads the reports in a file: YAML or JSON, of this project or of the older
// one, one or several, a state as nmstate prints it, or an archive of kubectl nmstate
// report.
func Read(raw []byte) ([]Report, error) {
	if isArchive(raw) {
		var err error
		if raw, err = states(raw); err != nil {
			return nil, err
		}
	}
	var all []Report
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(raw), len(raw)+1)
	for {
		var one json.RawMessage
		err := decoder.Decode(&one)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("no YAML or JSON: %s", strings.ReplaceAll(err.Error(), "\n", " "))
		}
		found, err := readDocument(one)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if len(all) == 0 {
		return nil, errors.New("there is no NodeNetworkState in it")
	}
	return all, nil
}

func readDocument(raw []byte) ([]Report, error) {
	if text := string(bytes.TrimSpace(raw)); text == "" || text == "null" {
		return nil, nil
	}
	var d document
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, errors.New("no NodeNetworkState, and no network state as nmstate prints it")
	}
	switch d.Kind {
	case "List", "NodeNetworkStateList":
		var all []Report
		for _, item := range d.Items {
			found, err := readDocument(item)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
		return all, nil
	case "NodeNetworkState":
		one, err := state.Parse(d.Status.CurrentState)
		return []Report{{Name: d.Metadata.Name, State: one, Omitted: d.omitted()}}, err
	case "":
		if d.Interfaces == nil {
			return nil, errors.New("no NodeNetworkState, and no network state as nmstate prints it: it has no interfaces")
		}
		one, err := state.Parse(raw)
		return []Report{{Name: hostName(one), State: one}}, err
	}
	return nil, fmt.Errorf("a %s is no NodeNetworkState", d.Kind)
}

func (d document) omitted() []string {
	var all []string
	if d.Status.Truncated == nil {
		return nil
	}
	for _, o := range d.Status.Truncated.Omitted {
		all = append(all, strings.TrimSpace(fmt.Sprintf("%d of %s %s", o.Count, o.Section, o.Type)))
	}
	return all
}

func hostName(s state.State) string {
	said := object(s.Tree()["hostname"])
	for _, key := range []string{"config", "running"} {
		if name := text(said[key]); name != "" {
			return name
		}
	}
	return ""
}

// What follows reads trees of JSON: what is of another type is as if it were not there.

func object(value any) map[string]any {
	tree, _ := value.(map[string]any)
	return tree
}

func objects(value any) []map[string]any {
	var all []map[string]any
	items, _ := value.([]any)
	for _, item := range items {
		if tree := object(item); tree != nil {
			all = append(all, tree)
		}
	}
	return all
}

func text(value any) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

func texts(value any) []string {
	var all []string
	items, _ := value.([]any)
	for _, item := range items {
		all = append(all, text(item))
	}
	return all
}

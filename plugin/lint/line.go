package lint

import (
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// lineOf is the line of the value at the path, or of the key in it. Where the path leads
// further than the document, it is that of the last value on the way: the handler's
// parser names an interface's type behind the interface.
func lineOf(node *yaml.Node, path, key string) int {
	line := node.Line
	for path != "" {
		name, next, rest := step(node, path)
		if next == nil {
			break
		}
		line, node, path = name, next, rest
	}
	if key != "" {
		if at, _, _ := step(node, key); at > 0 {
			return at
		}
	}
	return line
}

// step goes one part of a path down. The line is that of the key.
func step(node *yaml.Node, path string) (line int, next *yaml.Node, rest string) {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	path = strings.TrimPrefix(path, ".")
	switch node.Kind {
	case yaml.SequenceNode:
		index, rest, found := strings.Cut(strings.TrimPrefix(path, "["), "]")
		i, err := strconv.Atoi(index)
		if !found || err != nil || i < 0 || i >= len(node.Content) {
			return 0, nil, ""
		}
		return node.Content[i].Line, node.Content[i], rest
	case yaml.MappingNode:
		longest := -1
		for i := 0; i+1 < len(node.Content); i += 2 {
			// A key may have dots in it, so that the longest one is the right one.
			key := node.Content[i].Value
			after, is := strings.CutPrefix(path, key)
			if is && len(key) > longest && (after == "" || after[0] == '.' || after[0] == '[') {
				longest, line, next, rest = len(key), node.Content[i].Line, node.Content[i+1], after
			}
		}
	}
	return line, next, rest
}

package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Args are the words that a usage names, by that name: "NODE" → "node1".
type Args map[string]string

// shape is a usage that words can be held against: "kill handler NODE [in
// PHASE]". Capitals are kinds of words (kinds.go), brackets are optional,
// "up|down" is one of them, "TEXT..." is one or more, "CHECK" is the rest.
type shape struct {
	words []string
}

func shapeOf(usage string) shape { return shape{strings.Fields(usage)} }

// mismatch tells how far a line agreed with a usage.
type mismatch struct {
	at  int
	why error
}

// match holds words against the usage.
func (s shape) match(p *parser, words []word) (Args, *Step, *mismatch) {
	m := &matching{p: p, words: words, args: Args{}}
	for i := 0; i < len(s.words); i++ {
		token := s.words[i]
		group, optional := strings.CutPrefix(token, "[")
		if !optional {
			if bad := m.one(token); bad != nil {
				return nil, nil, bad
			}
			continue
		}
		end := i
		for !strings.HasSuffix(s.words[end], "]") {
			end++
		}
		parts := append([]string{group}, s.words[i+1:end+1]...)
		if end == i {
			parts = []string{group}
		}
		parts[len(parts)-1] = strings.TrimSuffix(parts[len(parts)-1], "]")
		i = end
		if !m.begins(parts[0]) {
			continue
		}
		for _, part := range parts {
			if bad := m.one(part); bad != nil {
				return nil, nil, bad
			}
		}
	}
	if m.at < len(words) && m.skipped != nil {
		return nil, nil, &mismatch{m.at, m.skipped}
	}
	if m.at < len(words) {
		return nil, nil, &mismatch{m.at, fmt.Errorf("%q is one word too many", words[m.at].said)}
	}
	return m.args, m.check, nil
}

type matching struct {
	p     *parser
	words []word
	at    int
	args  Args
	check *Step
	// skipped is why the last optional group was left out.
	skipped error
}

// begins tells whether the next word can be the first one of an optional group.
func (m *matching) begins(token string) bool {
	if m.at == len(m.words) {
		return false
	}
	next := m.words[m.at]
	if token == strings.ToLower(token) {
		return !next.quoted && slices.Contains(strings.Split(token, "|"), next.said)
	}
	kind := kinds[strings.TrimSuffix(token, "...")]
	if kind.quoted != next.quoted {
		return false
	}
	if kind.accepts != nil {
		m.skipped = kind.accepts(m.p, next.said)
		return m.skipped == nil
	}
	return true
}

func (m *matching) one(token string) *mismatch {
	name, several := strings.CutSuffix(token, "...")
	if name == "CHECK" {
		check, bad := m.p.find(checks, m.words[m.at:])
		if bad != nil {
			return &mismatch{m.at + bad.at, bad.why}
		}
		m.check, m.at = check, len(m.words)
		return nil
	}
	for first := true; first || several && m.at < len(m.words); first = false {
		if m.at == len(m.words) {
			return &mismatch{m.at, fmt.Errorf("%s is missing", token)}
		}
		next := m.words[m.at]
		if err := m.accept(name, next); err != nil {
			return &mismatch{m.at, err}
		}
		switch {
		case several && !first:
			m.args[name] += "\n" + next.said
		case name != next.said: // a word that can be no other tells nothing
			m.args[name] = next.said
		}
		m.skipped = nil
		m.at++
	}
	return nil
}

func (m *matching) accept(name string, next word) error {
	if name == strings.ToLower(name) {
		if next.quoted || !slices.Contains(strings.Split(name, "|"), next.said) {
			return fmt.Errorf("%q: want %s", next.said, strings.ReplaceAll(name, "|", " or "))
		}
		return nil
	}
	kind := kinds[name]
	switch {
	case kind.quoted && !next.quoted:
		return fmt.Errorf("%s: text stands in single quotes", next.said)
	case !kind.quoted && next.quoted:
		return fmt.Errorf("'%s': want %s, without quotes", next.said, name)
	case kind.accepts == nil:
		return nil
	}
	return kind.accepts(m.p, next.said)
}

// list are the entries of the argument.
func (a Args) list(name string) []string {
	if a[name] == "" {
		return nil
	}
	return strings.Split(a[name], "\n")
}

// find is the one of the table that the words are; of several that begin alike
// the mismatch is of the one that agreed furthest.
func (p *parser) find(table []form, words []word) (*Step, *mismatch) {
	if len(words) == 0 {
		return nil, &mismatch{0, errors.New("the rest of the line is missing")}
	}
	var worst *mismatch
	var usages []string
	for i := range table {
		f := &table[i]
		args, check, bad := shapeOf(f.usage).match(p, words)
		if bad == nil {
			return &Step{form: f, Args: args, Check: check}, nil
		}
		if !words[0].quoted && slices.Contains(f.first(), words[0].said) {
			usages = append(usages, f.usage)
			if worst == nil || bad.at > worst.at {
				worst = bad
			}
		}
	}
	if worst == nil {
		return nil, &mismatch{0, fmt.Errorf("%s: there is no such command or check (there are: %s)", words[0].said, firstWords(table))}
	}
	return nil, &mismatch{worst.at, fmt.Errorf("%w; it reads: %s", worst.why, strings.Join(usages, ", or: "))}
}

// first are the words that a line of this form can begin with.
func (f *form) first() []string {
	first, _, _ := strings.Cut(f.usage, " ")
	return strings.Split(first, "|")
}

func firstWords(table []form) string {
	var names []string
	for _, f := range table {
		names = append(names, f.first()...)
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

package state

import (
	"fmt"
	"slices"
	"strings"
)

// Dispatch is when NetworkManager runs a script for an interface, in nmstate's
// words.
type Dispatch string

// The scripts of an interface, spelt as nmstate's keys.
const (
	PostActivation   Dispatch = "post-activation"
	PostDeactivation Dispatch = "post-deactivation"
)

// dispatchKey holds the scripts of an interface.
const dispatchKey = "dispatch"

// Dispatches are all of them.
func Dispatches() []Dispatch { return []Dispatch{PostActivation, PostDeactivation} }

const (
	// scriptBegin and scriptEnd are the lines that nmstate writes around the text
	// of a script, and looks for when it reads one.
	scriptBegin = "## NMSTATE DISPATCH SCRIPT START"
	scriptEnd   = "## NMSTATE DISPATCH SCRIPT END"
	// mostScript is the most that a script has, in bytes.
	mostScript = 64 << 10
	// shellSigns in the name of an interface would be read by the shell.
	shellSigns = "\"$`\\ \t\n/"
)

// Scripts are the texts of scripts by interface. An empty text stands for none.
type Scripts map[string]map[Dispatch]string

// Scripts are what the state says of scripts, in nmstate's meaning: an
// interface that is to be absent has none.
func (s State) Scripts() Scripts {
	found := Scripts{}
	for _, one := range s.Interfaces() {
		said := map[Dispatch]string{}
		scripts := object(one.tree[dispatchKey])
		for _, when := range Dispatches() {
			if one.IsAbsent() {
				said[when] = ""
			} else if written, is := scripts[string(when)]; is {
				said[when] = text(written)
			}
		}
		if len(said) > 0 {
			found[one.Name] = said
		}
	}
	return found
}

// SaysScripts tells whether the state speaks of scripts by name.
func (s State) SaysScripts() bool {
	return slices.ContainsFunc(s.Interfaces(), func(one Interface) bool { return one.tree[dispatchKey] != nil })
}

// WithoutScripts is the state without a word on scripts.
func (s State) WithoutScripts() State { return s.WithScripts(nil) }

// WithScripts is a report that tells these scripts and no others. Only an interface
// of the kernel has any.
func (s State) WithScripts(scripts Scripts) State {
	if len(scripts) == 0 && !s.SaysScripts() {
		return s
	}
	tree := s.Tree()
	for _, one := range objects(tree["interfaces"]) {
		delete(one, dispatchKey)
		told := map[string]any{}
		for when, script := range scripts[text(one["name"])] {
			if script != "" {
				told[string(when)] = script
			}
		}
		if len(told) > 0 && !isUserspace(text(one["type"])) {
			one[dispatchKey] = told
		}
	}
	return FromTree(tree)
}

// checkScripts refuses scripts that nmstate could not write, or not read back.
func checkScripts(one Interface) error {
	by := text(one.tree["identifier"])
	switch {
	case isUserspace(one.Type):
		return fmt.Errorf("an interface of type %s is not activated and runs no script: write it at an interface of the kernel", one.Type)
	case by != "" && by != "name" || one.Name == "":
		return fmt.Errorf("a script is for an interface that is identified by its name")
	case strings.ContainsAny(one.Name, shellSigns):
		return fmt.Errorf("no script can be written for an interface of this name: a shell would read %q otherwise", one.Name)
	}
	for _, when := range Dispatches() {
		script := text(object(one.tree[dispatchKey])[string(when)])
		lines := strings.Split(script, "\n")
		switch {
		case len(script) > mostScript:
			return fmt.Errorf("%s has %d bytes, and a script may have %d: keep it on the node, and call it", when, len(script), mostScript)
		case slices.Contains(lines, scriptBegin) || slices.Contains(lines, scriptEnd):
			return fmt.Errorf("%s has a line that nmstate ends a script with: take out %q", when, scriptEnd)
		}
	}
	return nil
}

// ScriptFile is the name of the file that nmstate writes for a script.
func ScriptFile(name string, when Dispatch) string {
	return "nmstate-" + name + "-" + when.action() + ".sh"
}

// ofScriptFile is the opposite of ScriptFile.
func ofScriptFile(file string) (name string, when Dispatch, is bool) {
	for _, when := range Dispatches() {
		rest, begins := strings.CutPrefix(file, "nmstate-")
		name, ends := strings.CutSuffix(rest, "-"+when.action()+".sh")
		if begins && ends && name != "" {
			return name, when, true
		}
	}
	return "", "", false
}

// ActivationOf is the interface whose activation runs the file.
func ActivationOf(file string) (name string, is bool) {
	name, when, is := ofScriptFile(file)
	return name, is && when == PostActivation
}

// IsScriptFile tells the name of a file that ScriptFile may return.
func IsScriptFile(file string) bool {
	_, _, is := ofScriptFile(file)
	return is
}

func (d Dispatch) action() string {
	if d == PostActivation {
		return "up"
	}
	return "down"
}

// ScriptContent is the content of the file, byte for byte as nmstate writes it.
func ScriptContent(name string, when Dispatch, script string) string {
	condition := `[ "$2" == "down" ]`
	if when == PostActivation {
		condition = `{ [ "$2" == "up" ] || [ "$2" == "reapply" ]; }`
	}
	return fmt.Sprintf("#!/usr/bin/bash\nif [ \"$1\" == \"%s\" ] && %s; then\n%s\n%s\n%s\nfi\n", name, condition, scriptBegin, script, scriptEnd)
}

// Add reads a file. Its text is what nmstate reads of it, if the file is as nmstate
// writes it; otherwise all of it, for what is there is another script.
func (s Scripts) Add(file, content string, runs bool) {
	name, when, is := ofScriptFile(file)
	if !is {
		return
	}
	script := content
	if _, rest, begins := strings.Cut(content, "\n"+scriptBegin+"\n"); begins {
		inner, _, ends := strings.Cut(rest, "\n"+scriptEnd+"\n")
		if ends && runs && ScriptContent(name, when, inner) == content {
			script = inner
		}
	}
	if s[name] == nil {
		s[name] = map[Dispatch]string{}
	}
	s[name][when] = script
}

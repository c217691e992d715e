package oracle

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Oracle is a rule.
type Oracle interface {
	// Name of the rule, as mutants and results name it.
	Name() string
	// Observe is told what happened, after Facts took it in. An error is a
	// violation; it says what, the rest is added.
	Observe(f *Facts, e Event) error
}

// Resting is a rule that is also looked at when everything should be done.
type Resting interface {
	// AtRest returns what breaks the rule then.
	AtRest(f *Facts) error
}

// Violation is a rule that did not hold.
type Violation struct {
	Rule string `json:"rule"`
	// Node that it is about; empty for none.
	Node    string `json:"node,omitempty"`
	Message string `json:"message"`
	// At is the virtual time since the run's start.
	At time.Duration `json:"atNanoseconds"`
}

// Error leaves the time out: a trace has it beside the message.
func (v *Violation) Error() string { return fmt.Sprintf("rule %s: %s", v.where(), v.Message) }

// String is the violation in a line.
func (v *Violation) String() string {
	return fmt.Sprintf("%s at %s: %s", v.where(), v.At, strings.TrimSpace(v.Message))
}

func (v *Violation) where() string {
	if v.Node == "" {
		return v.Rule
	}
	return v.Rule + " on " + v.Node
}

// Broken is the violation that an error stands for. An error that no rule of this
// package returned breaks the rule that is named.
func Broken(rule string, err error, at time.Duration) *Violation {
	if found := (*Violation)(nil); errors.As(err, &found) {
		return found
	}
	return &Violation{Rule: rule, Message: err.Error(), At: at}
}

// All are the rules, each new.
func All() []Oracle {
	return []Oracle{
		newReach(), guards{}, committed{}, available{}, kept{}, newSlots(), newBlast(), writers{}, newForeignThings(), newForeignCheckpoints(),
		newQuiet(), liveness{}, unmanaged{}, newPatient(), newOutage(), newBackoff(), journaled{}, newGrant(), live{}, superseded{}, takenBack{}, life{},
		newOneChange(), volatile{}, held{}, exact{}, permanent{}, families{}, newNamed(), activated{}, newTerse(), selection{}, newPaced(), newLastWord(), newQuorum(), newLeave(),
	}
}

// Named are the rules with one name, or all of them for an empty one.
func Named(name string) []Oracle {
	return slices.DeleteFunc(All(), func(o Oracle) bool { return name != "" && o.Name() != name })
}

// Set is the rules at work on one run.
type Set struct {
	facts *Facts
	rules []Oracle
	// fail ends the run.
	fail func(error)
}

// New sets the rules on a run; fail is told the violations, mostly world.Fail.
func New(truth Truth, fail func(error), rules ...Oracle) *Set {
	s := &Set{facts: newFacts(truth), rules: rules, fail: fail}
	s.facts.later = s.later
	return s
}

// Tell shows the rules an event.
func (s *Set) Tell(e Event) {
	e.At = s.facts.Elapsed()
	s.facts.before(e)
	for _, rule := range s.rules {
		s.report(rule, e.Node, rule.Observe(s.facts, e))
	}
	s.facts.after(e)
}

// AtRest looks at the rules that hold once everything is done. The error is the
// first violation.
func (s *Set) AtRest() error {
	for _, rule := range s.rules {
		if resting, is := rule.(Resting); is {
			if v := s.violation(rule, "", resting.AtRest(s.facts)); v != nil {
				return v
			}
		}
	}
	return nil
}

func (s *Set) report(rule Oracle, node string, err error) {
	if v := s.violation(rule, node, err); v != nil {
		s.fail(v)
	}
}

// violation is nil for nothing wrong. A node that somebody has taken over breaks no rule
// by itself: what it must not do is stop others.
func (s *Set) violation(rule Oracle, node string, err error) error {
	if err == nil {
		return nil
	}
	var about *aboutNode
	if errors.As(err, &about) {
		node = about.node
	}
	if s.facts.IsTaken(node) {
		return nil
	}
	return &Violation{Rule: rule.Name(), Node: node, At: s.facts.Elapsed(), Message: err.Error()}
}

// later has a rule look again after a while.
func (s *Set) later(rule Oracle, d time.Duration, node string, look func() error) {
	s.facts.After(d, func() { s.report(rule, node, look()) })
}

// aboutNode says which node a violation is about where the event does not.
type aboutNode struct {
	node string
	error
}

func (a *aboutNode) Unwrap() error { return a.error }

func on(node, format string, arguments ...any) error {
	return &aboutNode{node, fmt.Errorf(format, arguments...)} //nolint:err113 // For people.
}

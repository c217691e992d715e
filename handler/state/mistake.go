package state

import (
	"errors"
	"fmt"
)

// Mistake is one thing that is wrong in a desired state.
type Mistake struct {
	// Path is where: "interfaces[0].bond".
	Path string
	// Message is what, and what to do about it.
	Message string
}

// Error is the mistake in one line.
func (m *Mistake) Error() string {
	if m.Path == "" {
		return m.Message
	}
	return m.Path + ": " + m.Message
}

// Mistakes finds the mistakes in an error that ParseDesired returned.
func Mistakes(err error) []*Mistake {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		var found []*Mistake
		for _, one := range several.Unwrap() {
			found = append(found, Mistakes(one)...)
		}
		return found
	}
	var one *Mistake
	if errors.As(err, &one) {
		return []*Mistake{one}
	}
	return nil
}

// maxMistakes bounds what one parse reports.
const maxMistakes = 20

// joined makes one error of mistakes: one per line, the first line first.
func joined(mistakes []*Mistake) error {
	if len(mistakes) == 0 {
		return nil
	}
	var all []error
	for i, mistake := range mistakes {
		if i == maxMistakes {
			all = append(all, fmt.Errorf("and %d more", len(mistakes)-i))
			break
		}
		all = append(all, mistake)
	}
	return errors.Join(all...)
}

package nmstate

import (
	"errors"
	"io"

	// The one line that changes when nmstate's own binding can be had:
	// github.com/nmstate/nmstate/rust/src/go/nmstate/v2.
	library "github.com/nmstate/kubernetes-nmstate/handler/libnmstate"
)

func retrieve() (string, error) { return library.New().RetrieveNetState() }

// validate checks a state as an apply does before it changes anything.
func validate(desired, current string) error { return library.New().ValidateNetState(desired, current) }

// generate makes the files of a state; it reads no node and changes none.
func generate(wanted string) (string, error) { return library.New().GenerateConfiguration(wanted) }

// applyUncommitted is a trial: its profiles are in /run, and go with the
// checkpoint or with the power.
func applyUncommitted(desired string, options trialOptions, logs io.Writer) error {
	n := library.New(library.WithNoCommit(), library.WithMemoryOnly(), library.WithTimeout(options.rollbackAfter), library.WithLogsWritter(logs))
	if !options.verify {
		library.WithNoVerify()(n)
	}
	_, err := n.ApplyNetState(desired)
	return err
}

// failureOf splits an error of the library into nmstate's kind and message.
func failureOf(err error) failure {
	var refused *library.Error
	if errors.As(err, &refused) {
		return failure{Kind: refused.Kind, Message: refused.Message}
	}
	return failure{Message: err.Error()}
}

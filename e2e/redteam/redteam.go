package redteam

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Thief has a token.
type Thief struct {
	// Client is with the stolen token.
	Client client.Client
	// Node is the one that the token is of, Victim another one.
	Node, Victim *corev1.Node
	// Policy selects both, and both have an enactment of it.
	Policy string
	// Namespace of the product.
	Namespace string
}

// Outcome is what becomes of an attempt.
type Outcome string

// The outcomes.
const (
	// NoRight: the token may not do that to any object.
	NoRight Outcome = "refused: no right to"
	// Admission: it may, but not to this object, or not so.
	Admission Outcome = "refused by admission"
	// Schema: no object may be like that.
	Schema Outcome = "refused by the schema"
	// TooLarge for the API server.
	TooLarge Outcome = "refused: too large"
	// Ignored: the API server takes it and does not do it.
	Ignored Outcome = "not done"
	// Passes: it is done.
	Passes Outcome = "let through"
)

// Attempt is one thing to try.
type Attempt struct {
	// What in a few words.
	What string
	// Want is what must come of it.
	Want Outcome
	// Harmless is why it may be let through, or what is made of it.
	Harmless string

	try func(ctx context.Context, t Thief) error
}

// Row is an attempt that was made.
type Row struct {
	Attempt
	Got Outcome
	// Said is the API server's answer.
	Said string
}

// errIgnored is what an attempt returns whose effect is missing.
var errIgnored = errors.New("the object is as it was")

// Run makes all attempts. An error means that one could not be made.
func Run(ctx context.Context, t Thief) ([]Row, error) {
	var rows []Row
	for _, attempt := range Attempts() {
		err := attempt.try(ctx, t)
		got, known := outcome(err)
		if !known {
			return rows, fmt.Errorf("trying %q: %w", attempt.What, err)
		}
		row := Row{Attempt: attempt, Got: got}
		if err != nil {
			row.Said = err.Error()
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func outcome(err error) (Outcome, bool) {
	switch {
	case err == nil:
		return Passes, true
	case errors.Is(err, errIgnored):
		return Ignored, true
	case strings.Contains(err.Error(), "resulted in error"):
		return "", false // An expression that cannot be evaluated refuses what it should let through, too.
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "ValidatingAdmissionPolicy"):
		return Admission, true
	case apierrors.IsForbidden(err):
		return NoRight, true
	case apierrors.IsRequestEntityTooLargeError(err) || strings.Contains(err.Error(), "request is too large"):
		return TooLarge, true
	case apierrors.IsInvalid(err) || apierrors.IsBadRequest(err):
		return Schema, true
	}
	return "", false
}

// Compare returns what came out otherwise than it must, one line each.
func Compare(rows []Row) []string {
	var wrong []string
	for _, row := range rows {
		if row.Got != row.Want {
			wrong = append(wrong, fmt.Sprintf("%s: %s, want %s (%s)", row.What, row.Got, row.Want, row.Said))
		}
	}
	return wrong
}

// Table is the attempts as the security page has them.
func Table(attempts []Attempt) string {
	var b strings.Builder
	b.WriteString("| tried with the token of node A's handler | what becomes of it |\n| --- | --- |\n")
	for _, a := range attempts {
		came := string(a.Want)
		if a.Harmless != "" {
			came += ": " + a.Harmless
		}
		fmt.Fprintf(&b, "| %s | %s |\n", a.What, came)
	}
	return b.String()
}

package controlplane

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// nodeNameExtra is where a token that is bound to a node names it.
const nodeNameExtra = "authentication.kubernetes.io/node-name"

// Request is one request that the API server answered. A watch is one request,
// however many events it brought.
type Request struct {
	// Time is when the request came in.
	Time time.Time
	// User is the authenticated name, such as
	// "system:serviceaccount:nmstate:nmstate-handler".
	User string
	// Node is the node that the user's token is bound to, or empty.
	Node      string
	UserAgent string
	// Verb is get, list, watch, create, update, patch, delete or
	// deletecollection.
	Verb string
	// Group, Resource and Subresource are empty for paths like /readyz.
	Group, Resource, Subresource string
	Namespace, Name              string
	// Code is the HTTP status of the answer.
	Code int
}

// Filter selects requests. A field that is empty selects all.
type Filter struct {
	// Since leaves out what came in earlier.
	Since time.Time
	// User and Node select by equality, UserAgent by its beginning.
	User, Node, UserAgent string
	// Verbs, Groups and Resources select what is among them.
	Verbs, Groups, Resources []string
	Name                     string
}

// Matches says whether the filter selects the request.
func (f Filter) Matches(r Request) bool {
	among := func(set []string, value string) bool { return len(set) == 0 || slices.Contains(set, value) }
	equals := func(want, value string) bool { return want == "" || want == value }
	return !r.Time.Before(f.Since) &&
		equals(f.User, r.User) && equals(f.Node, r.Node) && equals(f.Name, r.Name) &&
		strings.HasPrefix(r.UserAgent, f.UserAgent) &&
		among(f.Verbs, r.Verb) && among(f.Groups, r.Group) && among(f.Resources, r.Resource)
}

// CountRequests counts the requests of an audit log (Options.AuditLog) that the
// filter selects.
func CountRequests(auditFile string, filter Filter) (int, error) {
	requests, err := ReadRequests(auditFile, filter)
	return len(requests), err
}

// ReadRequests returns the requests of an audit log that the filter selects, in
// the order of the log. The API server writes a request down when it has
// answered, so the last one may appear a moment after its answer.
func ReadRequests(auditFile string, filter Filter) ([]Request, error) {
	file, err := os.Open(auditFile)
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	defer func() { _ = file.Close() }()
	requests, err := parseRequests(file, filter)
	if err != nil {
		return nil, fmt.Errorf("reading the audit log %s: %w", auditFile, err)
	}
	return requests, nil
}

func parseRequests(log io.Reader, filter Filter) ([]Request, error) {
	var requests []Request
	// A watch is in the log when it begins and again when it ends.
	seen := map[string]bool{}
	lines := bufio.NewReader(log)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return requests, nil // what has no end yet is still being written
		}
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var event auditv1.Event
		if err := json.Unmarshal(line, &event); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		id := string(event.AuditID)
		if event.Stage == auditv1.StageRequestReceived || seen[id] {
			continue
		}
		seen[id] = true
		if request := newRequest(event); filter.Matches(request) {
			requests = append(requests, request)
		}
	}
}

func newRequest(event auditv1.Event) Request {
	request := Request{
		Time:      event.RequestReceivedTimestamp.Time,
		User:      event.User.Username,
		UserAgent: event.UserAgent,
		Verb:      event.Verb,
	}
	if names := event.User.Extra[nodeNameExtra]; len(names) == 1 {
		request.Node = names[0]
	}
	if object := event.ObjectRef; object != nil {
		request.Group, request.Resource, request.Subresource = object.APIGroup, object.Resource, object.Subresource
		request.Namespace, request.Name = object.Namespace, object.Name
	}
	if event.ResponseStatus != nil {
		request.Code = int(event.ResponseStatus.Code)
	}
	return request
}

// Summary is a line for each kind of request with how many there were, the most
// frequent first, for logs and benchmarks.
func Summary(requests []Request) string {
	counts := map[string]int{}
	for _, r := range requests {
		resource := r.Resource
		if r.Subresource != "" {
			resource += "/" + r.Subresource
		}
		counts[strings.TrimSpace(r.Verb+" "+resource)]++
	}
	kinds := make([]string, 0, len(counts))
	for kind := range counts {
		kinds = append(kinds, kind)
	}
	slices.SortFunc(kinds, func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(a, b)
	})
	var text strings.Builder
	for _, kind := range kinds {
		fmt.Fprintf(&text, "%4d %s\n", counts[kind], kind)
	}
	return text.String()
}

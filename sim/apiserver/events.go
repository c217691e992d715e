package apiserver

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// Event is one that a process recorded, for people.
type Event struct {
	At      time.Duration
	Process string
	// Kind and Name of the object that it is about, Related the name of another.
	Kind, Name, Related string
	Type, Reason, Note  string
}

// Events keeps what is recorded, over crashes.
type Events struct{ kept []Event }

// About are the events of an object, oldest first.
func (e *Events) About(kind, name string) []Event {
	var found []Event
	for _, event := range e.kept {
		if event.Kind == kind && event.Name == name {
			found = append(found, event)
		}
	}
	return found
}

// All are the events, oldest first.
func (e *Events) All() []Event { return e.kept }

// Recorder records a process's events; it is the Recorder of production.
type Recorder struct {
	events  *Events
	process *world.Process
}

// Recorder makes one for a process.
func (e *Events) Recorder(p *world.Process) *Recorder { return &Recorder{e, p} }

// Eventf implements events.EventRecorder. Recording never fails or waits: as in
// client-go it goes its own way to the server.
func (r *Recorder) Eventf(regarding, related runtime.Object, eventtype, reason, _, note string, args ...any) {
	if r.process.Dead() {
		return
	}
	about := regarding.(client.Object)
	event := Event{
		At: r.process.World().Elapsed(), Process: r.process.Name,
		Kind: kinds()[place(about)].name, Name: about.GetName(),
		Type: eventtype, Reason: reason, Note: fmt.Sprintf(note, args...),
	}
	if o, ok := related.(client.Object); ok && related != nil {
		event.Related = o.GetName()
	}
	r.events.kept = append(r.events.kept, event)
	r.process.World().Trace(r.process.Name, "event", fmt.Sprintf("%s %s/%s: %s", reason, event.Kind, event.Name, event.Note))
}

package trace

import (
	"strings"
	"time"

	"github.com/nmstate/kubernetes-nmstate/handler/txn"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// log reads the node's transactions from what the agent logs.
func (r *Recorder) log(row *Row, l world.Line) {
	if !row.Node {
		return
	}
	if strings.HasPrefix(l.Text, "correcting drift") {
		r.drift[row] = true
	}
	if !strings.HasPrefix(l.Text, "transaction") {
		return
	}
	message, values := Fields(l.Text)
	switch message {
	case "transaction":
		r.phase(row, l, values)
	case "transaction ended":
		if t := r.last[row]; t != nil && t.Result == "" {
			t.Result, t.Text = values["result"], values["message"]
		}
	}
}

// phase begins a transaction, lets it enter a phase or ends it.
func (r *Recorder) phase(row *Row, l world.Line, values map[string]string) {
	to, from, at := txn.Phase(values["phase"]), txn.Phase(values["from"]), l.At
	t := r.open[row]
	began := from == txn.Idle || from == ""
	if forward := to == txn.Baseline || to == txn.Arming; t != nil && began && forward {
		// The process that had it died before the journal knew of it.
		t.end(at)
		t = nil
	}
	if t == nil && to != txn.Idle {
		t = &Transaction{
			Span:   Span{Begin: at, Open: true},
			Policy: values["policy"], Generation: values["generation"], Drift: r.drift[row],
		}
		delete(r.drift, row)
		row.Transactions = append(row.Transactions, t)
		r.open[row] = t
	}
	switch {
	case t == nil:
		return
	case to == txn.Idle:
		t.end(at)
		r.last[row] = t
		delete(r.open, row)
	default:
		t.enter(string(to), at)
		if cause := values["cause"]; cause != "" {
			t.Text = cause
		}
	}
	t.process = l.Who
}

// enter ends the phase in which it is and begins another.
func (t *Transaction) enter(phase string, at time.Duration) {
	if n := len(t.Phases); n > 0 {
		end(t.Phases[n-1], at)
	}
	t.Phases = append(t.Phases, &Span{Begin: at, Open: true, Name: phase})
}

func (t *Transaction) end(at time.Duration) {
	end(&t.Span, at)
	if n := len(t.Phases); n > 0 {
		end(t.Phases[n-1], at)
	}
}

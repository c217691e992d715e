package record

import (
	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
)

// Decided is the record once package idle has decided on what is wanted, which comes from
// these sources.
func Decided(record journal.Record, action idle.Action, sources []v1.DesiredSource) journal.Record {
	switch action := action.(type) {
	case idle.Forget:
		record.Failed = nil
	case idle.Repeat:
		record.Last = &action.Last
	case idle.Adopt:
		committed := *record.Committed
		committed.Sources = sources
		record.Committed, record.Last = &committed, &action.Last
	case idle.Pause:
		if action.Last != nil {
			record.Last = action.Last
		}
	}
	return record
}

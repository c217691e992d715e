package record

import (
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

func TestWhichEntriesARecordConcludes(t *testing.T) {
	since := time.Date(2026, 1, 2, 3, 4, 5, 600, time.UTC)
	for name, test := range map[string]struct {
		change func(*journal.Entry, *journal.Record)
		want   bool
	}{
		"the record says that this change was committed": {func(*journal.Entry, *journal.Record) {}, true},
		"nothing was ever recorded":                      {func(_ *journal.Entry, r *journal.Record) { *r = journal.Record{} }, false},
		"it began later, as the same generation":         {func(e *journal.Entry, _ *journal.Record) { e.Since = since.Add(time.Second) }, false},
		"it is of another generation":                    {func(e *journal.Entry, _ *journal.Record) { e.Transaction.Change.Generation = 8 }, false},
		"it is another change":                           {func(e *journal.Entry, _ *journal.Record) { e.Transaction.Change.Hash = "other" }, false},
		"it was not proven yet":                          {func(e *journal.Entry, _ *journal.Record) { e.Transaction.Proven = false }, false},
		"it puts right what drifted":                     {func(e *journal.Entry, _ *journal.Record) { e.Correction = []string{"interfaces[br0].mtu"} }, false},
		"an attempt of the same second was taken back":   {func(_ *journal.Entry, r *journal.Record) { r.Last.Result = v1.TransactionRolledBack }, false},
	} {
		t.Run(name, func(t *testing.T) {
			entry := journal.Entry{Since: since, Transaction: txn.State{Phase: txn.Committing, Proven: true, Change: txn.Change{Generation: 7, Hash: "h"}}}
			record := journal.Record{
				Last:      &v1.Transaction{Generation: 7, Since: *idle.InSeconds(since), Result: v1.TransactionCommitted},
				Committed: &journal.Committed{Hash: "h"},
			}
			test.change(&entry, &record)
			if got := Concludes(record, entry); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestWhichChangeIsATakeOver(t *testing.T) {
	of := func(policies ...string) (sources []v1.DesiredSource) {
		for _, policy := range policies {
			sources = append(sources, v1.DesiredSource{Source: v1.Source{Policy: policy[:1], Generation: 1, Hash: policy[1:]}})
		}
		return sources
	}
	for sentence, c := range map[string]struct {
		spec      v1.NodeNetworkStateSpec
		committed []v1.DesiredSource
		want      bool
	}{
		"the first policy of a node":            {spec: v1.NodeNetworkStateSpec{TakeOver: true, Policy: "a", Sources: of("a1")}, want: true},
		"one more":                              {spec: v1.NodeNetworkStateSpec{TakeOver: true, Policy: "b", Sources: of("a1", "b1")}, committed: of("a1"), want: true},
		"nobody says so":                        {spec: v1.NodeNetworkStateSpec{Policy: "a", Sources: of("a1")}},
		"somebody has written it by hand":       {spec: v1.NodeNetworkStateSpec{TakeOver: true}},
		"another one comes as well":             {spec: v1.NodeNetworkStateSpec{TakeOver: true, Policy: "b", Sources: of("a1", "b1")}},
		"another one leaves":                    {spec: v1.NodeNetworkStateSpec{TakeOver: true, Policy: "b", Sources: of("b1")}, committed: of("a1")},
		"another one has changed":               {spec: v1.NodeNetworkStateSpec{TakeOver: true, Policy: "b", Sources: of("a2", "b1")}, committed: of("a1")},
		"something of it is committed already":  {spec: v1.NodeNetworkStateSpec{TakeOver: true, Policy: "a", Sources: of("a2")}, committed: of("a1")},
		"it is not in the state that is wanted": {spec: v1.NodeNetworkStateSpec{TakeOver: true, Policy: "b", Sources: of("a1")}, committed: of("a1")},
		"it brings probes":                      {spec: v1.NodeNetworkStateSpec{TakeOver: true, Policy: "a", Sources: of("a1"), Probes: []v1.Probe{{Type: v1.ProbeConfirm}}}},
	} {
		t.Run(sentence, func(t *testing.T) {
			var committed *journal.Committed
			if c.committed != nil {
				committed = &journal.Committed{Sources: c.committed}
			}
			if got := IsTakeOver(journal.Record{Committed: committed}, c.spec); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestWhichPathsGoBack(t *testing.T) {
	edited := from("Revert", "a", "b")
	edited[0].Hash = "other"
	for sentence, c := range map[string]struct {
		onDelete, originals, kept string
		next                      []v1.DesiredSource
		want                      string
	}{
		"those of a policy that leaves":                      {onDelete: "Revert", next: from("Revert", "b"), want: "interfaces[a].mtu"},
		"those of one that was edited":                       {onDelete: "Revert", next: edited, want: "interfaces[a].mtu"},
		"none where all stay":                                {onDelete: "Revert", next: from("Revert", "a", "b")},
		"none of one that leaves what it set":                {onDelete: "Retain", next: from("Retain", "b")},
		"none of one that says nothing":                      {next: from("", "b")},
		"none where nothing is known of what was there":      {onDelete: "Revert", originals: "-", next: from("Revert", "b")},
		"none of a removal whose configuration was kept":     {onDelete: "Revert", kept: "h2", next: from("Revert", "b")},
		"all the same where another removal's was kept":      {onDelete: "Revert", kept: "h0", next: from("Revert", "b"), want: "interfaces[a].mtu"},
		"those of both where both leave, in their order":     {onDelete: "Revert", want: "interfaces[a].mtu interfaces[b].mtu"},
		"those of the one that leaves, whoever comes for it": {onDelete: "Revert", next: from("Revert", "b", "c"), want: "interfaces[a].mtu"},
	} {
		t.Run(sentence, func(t *testing.T) {
			record := journal.Record{Committed: &journal.Committed{Sources: from(c.onDelete, "a", "b")}}
			if c.originals == "" {
				record.Originals = []byte(`{"interfaces": {"a": {"mtu": 1500}}}`)
			}
			if c.kept != "" {
				record.Kept = &journal.Kept{Hash: c.kept}
			}
			var got []string
			for _, path := range Reverted(record, c.next, "h2") {
				got = append(got, path.String())
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestWhatIsARemoval(t *testing.T) {
	some := v1.State{Raw: []byte(`{"interfaces": []}`)}
	edited := from("", "b")
	edited[0].Hash = "other"
	for sentence, c := range map[string]struct {
		committed []v1.DesiredSource
		spec      v1.NodeNetworkStateSpec
		want      bool
	}{
		"one policy leaves, another stays":              {from("", "a", "b"), v1.NodeNetworkStateSpec{Sources: from("", "b"), DesiredState: some}, true},
		"the last one leaves":                           {from("", "a"), v1.NodeNetworkStateSpec{}, true},
		"a person writes something instead of it":       {from("", "a"), v1.NodeNetworkStateSpec{DesiredState: some}, false},
		"one leaves as another one changes":             {from("", "a", "b"), v1.NodeNetworkStateSpec{Sources: edited, DesiredState: some}, false},
		"one comes":                                     {from("", "a"), v1.NodeNetworkStateSpec{Sources: from("", "a", "b"), DesiredState: some}, false},
		"all stay":                                      {from("", "a"), v1.NodeNetworkStateSpec{Sources: from("", "a"), DesiredState: some}, false},
		"nothing was ever committed, nothing is wanted": {nil, v1.NodeNetworkStateSpec{}, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := IsRemoval(journal.Record{Committed: &journal.Committed{Sources: c.committed}}, c.spec); got != c.want {
				t.Errorf("got %t", got)
			}
		})
	}
	if IsRemoval(journal.Record{}, v1.NodeNetworkStateSpec{}) {
		t.Error("nothing was ever recorded, and it is one")
	}
}

func TestWhatIsRecordedOfADecision(t *testing.T) {
	last := func(generation int64) v1.Transaction { return v1.Transaction{Generation: generation} }
	nearer := last(9)
	for sentence, c := range map[string]struct {
		action idle.Action
		want   string
	}{
		"what failed is forgotten":                        {idle.Forget{}, "last 1, of a, failed false"},
		"a newer generation ended as the one that failed": {idle.Repeat{Last: last(2)}, "last 2, of a, failed true"},
		"what is committed comes from another policy":     {idle.Adopt{Last: last(3)}, "last 3, of b, failed true"},
		"the next attempt is nearer":                      {idle.Pause{Last: &nearer}, "last 9, of a, failed true"},
		"a pause without news changes nothing":            {idle.Pause{For: time.Second}, "last 1, of a, failed true"},
		"what begins changes nothing before it has ended": {idle.Begin{}, "last 1, of a, failed true"},
	} {
		t.Run(sentence, func(t *testing.T) {
			first := last(1)
			before := journal.Record{Last: &first, Committed: &journal.Committed{Sources: from("", "a")}, Failed: &idle.Failed{}}
			after := Decided(before, c.action, from("", "b"))
			if got := fmt.Sprintf("last %d, of %s, failed %t", after.Last.Generation, after.Committed.Sources[0].Policy, after.Failed != nil); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if before.Committed.Sources[0].Policy != "a" || before.Last.Generation != 1 || before.Failed == nil {
				t.Error("the record before has changed")
			}
		})
	}
}

func TestWhichGenerationIsOfARestoredCluster(t *testing.T) {
	t.Parallel()
	last := func(generation int64) *v1.Transaction { return &v1.Transaction{Generation: generation} }
	for name, row := range map[string]struct {
		record journal.Record
		want   bool
	}{
		"the same number, another state":               {journal.Record{Last: last(3), About: &journal.About{Generation: 3, Hash: "two"}}, true},
		"what was tried":                               {journal.Record{Last: last(3), About: &journal.About{Generation: 3, Hash: "one"}}, false},
		"an older one was tried":                       {journal.Record{Last: last(2), About: &journal.About{Generation: 2, Hash: "two"}}, false},
		"a newer one was tried":                        {journal.Record{Last: last(4), About: &journal.About{Generation: 4, Hash: "two"}}, false},
		"what was tried was told for a newer one, too": {journal.Record{Last: last(3), About: &journal.About{Generation: 2, Hash: "two"}}, false},
		"it was forgotten":                             {journal.Record{Last: last(0), About: &journal.About{Generation: 3, Hash: "two"}}, false},
		"an older handler wrote it":                    {journal.Record{Last: last(3)}, false},
		"nothing was tried":                            {journal.Record{}, false},
	} {
		if got := IsRestored(row.record, txn.Change{Generation: 3, Hash: "one"}); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

package idle

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

func mtuOf(name string) state.Difference {
	return state.Difference{Path: state.ParsePath("interfaces[" + name + "].mtu"), Want: "1400", Got: "1300"}
}

// TestWhatDriftsAndWhenItIsPutRight plays reads of a node one after the other.
func TestWhatDriftsAndWhenItIsPutRight(t *testing.T) {
	start := time.Unix(1_000_000, 0)
	type read struct {
		at time.Duration
		// lacks are the interfaces whose MTU is another one.
		lacks string
		// wants are the rows of the status, then how long until the next look; "right"
		// where something is put right, which succeeds at once.
		want string
	}
	for sentence, c := range map[string]struct {
		calm  time.Duration
		drift string
		reads []read
	}{
		"what lasts is drift": {reads: []read{
			{0, "a", "again in 2s"}, {time.Second, "a", "again in 1s"}, {2 * time.Second, "a", "a Correcting right"}, {3 * time.Second, "", ""},
		}},
		"what is right again in between begins anew": {reads: []read{
			{0, "a", "again in 2s"}, {time.Second, "", ""}, {2 * time.Second, "a", "again in 2s"}, {4 * time.Second, "a", "a Correcting right"},
		}},
		"nothing is drift while it is not calm": {calm: 15 * time.Second, reads: []read{
			{0, "a", "again in 15s"}, {14 * time.Second, "a", "again in 1s"}, {15 * time.Second, "a", "a Correcting right"},
		}},
		"what drifts again waits ever longer": {reads: []read{
			{0, "a", "again in 2s"}, {2 * time.Second, "a", "a Correcting right"},
			{3 * time.Second, "a", "a Damped again in 9s"}, {12 * time.Second, "a", "a Correcting right"},
			{13 * time.Second, "a", "a Damped again in 19s"}, {32 * time.Second, "a", "a Correcting right"},
		}},
		"what stays right for long is put right at once": {reads: []read{
			{0, "a", "again in 2s"}, {2 * time.Second, "a", "a Correcting right"}, {3 * time.Second, "", ""},
			{2 * time.Hour, "a", "again in 2s"}, {2*time.Hour + 2*time.Second, "a", "a Correcting right"},
		}},
		"what is only reported stays": {drift: driftReport, reads: []read{
			{0, "a", "again in 2s"}, {2 * time.Second, "a", "a Reported"}, {time.Hour, "a", "a Reported"},
		}},
		"each waits for itself": {reads: []read{
			{0, "a", "again in 2s"}, {time.Second, "a b", "again in 1s"}, {2 * time.Second, "a b", "a Correcting again in 1s right"}, {3 * time.Second, "b", "b Correcting right"},
		}},
	} {
		t.Run(sentence, func(t *testing.T) {
			var drift Drift
			var past Corrections
			var told []v1.Drift
			for _, r := range c.reads {
				now := start.Add(r.at)
				var missing []state.Difference
				for name := range strings.FieldsSeq(r.lacks) {
					missing = append(missing, mtuOf(name))
				}
				drift = drift.After(Comparison{
					Missing: missing, Told: told, Now: now, Calm: start.Add(c.calm), Corrections: past,
					Sources: []v1.DesiredSource{{Source: v1.Source{Policy: "p"}, Drift: c.drift, Paths: []string{"interfaces[a]", "interfaces[b]"}}},
				})
				var says []string
				told = drift.Rows(now)
				for _, row := range told {
					says = append(says, state.ParsePath(row.Path).Interface+" "+row.Action)
				}
				if wait := drift.Wait(now); wait > 0 {
					says = append(says, "again in "+wait.String())
				}
				if due := drift.Due(now); len(due.Subjects) > 0 {
					says = append(says, "right")
					past = past.After(CorrectionEnded{Subjects: due.Subjects, At: now}, drift, Damping{})
					told = nil
				}
				if got := strings.Join(says, " "); got != r.want {
					t.Fatalf("after %s: %q, want %q", r.at, got, r.want)
				}
			}
		})
	}
}

func TestAThingHasStayedRightUntilItsFirstLeafDrifted(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	early, late := Drifted{Difference: mtuOf("a"), since: now.Add(-10 * time.Minute)}, Drifted{Difference: mtuOf("a"), since: now}
	for _, found := range [][]Drifted{{early, late}, {late, early}} {
		past := Corrections{"interfaces[a]": {Times: 3, Ended: now.Add(-61 * time.Minute)}}
		past = past.After(CorrectionEnded{Subjects: []string{"interfaces[a]"}, At: now}, Drift{Found: found}, Damping{})
		if times := past["interfaces[a]"].Times; times != 4 {
			t.Errorf("it is correction %d in a row, want 4", times)
		}
	}
}

func TestALossIsRememberedForAsLongAsItMayKeepOneWaiting(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	past := Corrections{"interfaces[a]": {Times: 1, Ended: now.Add(-24 * time.Hour)}, "interfaces[b]": {Times: 1, Ended: now.Add(-25 * time.Hour)}}
	past = past.After(CorrectionEnded{Subjects: []string{"interfaces[c]"}, At: now}, Drift{}, Damping{})
	if diff := cmp.Diff([]string{"interfaces[a]", "interfaces[c]"}, slices.Sorted(maps.Keys(past))); diff != "" {
		t.Errorf("remembered (-want +got):\n%s", diff)
	}
}

func TestWhatIsNotWantedAnyMoreIsNotPutRightForAMoment(t *testing.T) {
	now := time.Unix(1000, 0)
	drift := Drift{Found: []Drifted{{Difference: mtuOf("a"), correct: true, due: now}}}
	drift.Hold(now)
	if due := drift.Due(now); len(due.Subjects) > 0 || drift.Wait(now) != SupersededPause {
		t.Errorf("%v is put right, the next look in %s", due.Subjects, drift.Wait(now))
	}
	now = now.Add(SupersededPause)
	if due := drift.Due(now); !drift.LooksAgain(now) || drift.LooksAgain(now) || len(due.Right) != 1 {
		t.Errorf("%v is put right then", due.Right)
	}
}

func TestWhatAClockAheadHasWrittenAboutDriftIsTakenForNow(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	for name, c := range map[string]struct {
		since, ended time.Duration // From now.
		past         Correction
		due          time.Duration
	}{
		"it was found by a clock ahead":                       {since: 2 * time.Hour},
		"it was corrected by a clock ahead":                   {since: -time.Second, ended: 2 * time.Hour, past: Correction{Times: 1}, due: 10 * time.Second},
		"it was corrected lately":                             {since: -time.Second, ended: -4 * time.Second, past: Correction{Times: 1}, due: 6 * time.Second},
		"it was found and corrected, both by a clock ahead":   {since: 3 * time.Hour, ended: 2 * time.Hour, past: Correction{Times: 1}, due: 10 * time.Second},
		"it was found a day ago, and its correction is to be": {since: -24 * time.Hour, due: -24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			var past Corrections
			if c.past.Times > 0 {
				c.past.Ended = now.Add(c.ended)
				past = Corrections{"interfaces[a]": c.past}
			}
			told := []v1.Drift{{Path: "interfaces[a].mtu", Expected: "1400", Found: "1300", Since: metav1.NewTime(now.Add(c.since))}}
			drift := Drift{}.After(Comparison{Missing: []state.Difference{mtuOf("a")}, Told: told, Now: now, Corrections: past.NotAhead(now)})
			if len(drift.Found) != 1 {
				t.Fatalf("found %+v", drift.Found)
			}
			if due := drift.Found[0].due.Sub(now); due != c.due {
				t.Errorf("it is put right in %s, want %s", due, c.due)
			}
			if told := drift.Rows(now)[0].Since.Time; told.After(now) {
				t.Errorf("it is told since %s, and now is %s", told, now)
			}
		})
	}
}

func TestWhatGoesWithoutTheDefaultProbesIsPutRightByItself(t *testing.T) {
	now := time.Unix(1000, 0)
	leaf := func(path string, unguarded bool, due time.Duration) Drifted {
		return Drifted{Difference: state.Difference{Path: state.ParsePath(path)}, correct: true, unguarded: unguarded, due: now.Add(due)}
	}
	for sentence, c := range map[string]struct {
		found     []Drifted
		subjects  []string
		unguarded bool
	}{
		"what is guarded is put right guarded": {[]Drifted{leaf("interfaces[a].mtu", false, 0)}, []string{"interfaces[a]"}, false},
		"a policy's that dropped them without": {[]Drifted{leaf("interfaces[a].mtu", true, 0)}, []string{"interfaces[a]"}, true},
		"of both the guarded comes first": {
			[]Drifted{leaf("interfaces[a].mtu", true, 0), leaf("interfaces[b].mtu", false, 0)}, []string{"interfaces[b]"}, false,
		},
		"what is not due yet does not count": {
			[]Drifted{leaf("interfaces[a].mtu", true, 0), leaf("interfaces[b].mtu", false, time.Second)}, []string{"interfaces[a]"}, true,
		},
		"an interface of both is guarded": {
			[]Drifted{leaf("interfaces[a].mtu", true, 0), leaf("interfaces[a].ipv4.dhcp", false, 0)}, []string{"interfaces[a]"}, false,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			drift := &Drift{Found: c.found}
			due := drift.Due(now)
			if diff := cmp.Diff(c.subjects, due.Subjects); diff != "" || due.Unguarded != c.unguarded {
				t.Errorf("unguarded: %t (-want +got):\n%s", due.Unguarded, diff)
			}
			left := slices.ContainsFunc(c.found, func(o Drifted) bool { return o.unguarded && !due.Unguarded })
			if again := drift.LooksAgain(now); again != left {
				t.Errorf("it looks again at once: %t, and something due is left: %t", again, left)
			}
		})
	}
}

func TestThatAnInterfaceIsUpIsOwnedByWhoeverSaysAnythingOfItWhereNobodySaysThat(t *testing.T) {
	const mtu, up, all = "interfaces[a].mtu", "interfaces[a].state", "interfaces[a]"
	for name, c := range map[string]struct {
		paths   map[string]string
		policy  string
		correct bool
	}{
		"nobody":                           {correct: true},
		"one that only reports":            {paths: map[string]string{"reports": mtu}, policy: "reports"},
		"one that corrects":                {paths: map[string]string{"corrects": mtu}, policy: "corrects", correct: true},
		"both":                             {paths: map[string]string{"reports": mtu, "corrects": mtu}, policy: "corrects", correct: true},
		"both, and one says that it is up": {paths: map[string]string{"reports": up, "corrects": mtu}, policy: "reports"},
		"one that has all of it":           {paths: map[string]string{"reports": all}, policy: "reports"},
		"one that has another one":         {paths: map[string]string{"reports": "interfaces[ab].mtu"}, correct: true},
	} {
		t.Run(name, func(t *testing.T) {
			var sources []v1.DesiredSource
			for _, policy := range []string{"reports", "corrects"} {
				if path := c.paths[policy]; path != "" {
					drift := map[string]string{"reports": driftReport}[policy]
					sources = append(sources, v1.DesiredSource{Source: v1.Source{Policy: policy}, Drift: drift, Paths: []string{path}})
				}
			}
			one := Drifted{Difference: state.Difference{Path: state.ParsePath(up), Want: "up", Got: "down"}, correct: true}
			one.isOwned(ownersOf(sources))
			if got := fmt.Sprint(one.policy, one.correct); got != fmt.Sprint(c.policy, c.correct) {
				t.Errorf("owned by, corrected: %s", got)
			}
		})
	}
}

func TestWhatIsToldOfDriftIsBounded(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	var drift Drift
	for i := range 1500 {
		drift.Found = append(drift.Found, Drifted{Difference: state.Difference{Path: state.ParsePath(fmt.Sprintf("interfaces[eth%d].description", i)), Want: long, Got: long}})
	}
	rows := drift.Rows(time.Unix(1000, 0))
	raw, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != maxDrift || len(raw) > 100<<10 {
		t.Errorf("%d leaves in %d bytes", len(rows), len(raw))
	}
	if one := rows[0]; leafOf(one.Path, one.Expected, one.Found) != leafOf(one.Path, long, long) {
		t.Error("what was told is not known again")
	}
	if message := drift.Message(nil); !strings.HasSuffix(message, "; and 1495 more") {
		t.Errorf("it ends with %s", message[len(message)-30:])
	}
}

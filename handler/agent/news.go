package agent

import (
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// putOff tells whether a status says nothing that is to be told now, and takes out of it
// what is to be told later: news of the network that somebody else has made (idle.News).
// What is written for another reason takes them along.
func (a *Agent) putOff(told v1.NodeNetworkStateStatus, status *v1.NodeNetworkStateStatus) bool {
	if wait, _ := a.reported.news.Wait(a.Clock.Now()); wait == 0 || a.reported.atOnce {
		return false
	}
	rest := *status
	rest.CurrentState, rest.Truncated, rest.LastSuccessfulUpdateTime = told.CurrentState, told.Truncated, told.LastSuccessfulUpdateTime
	if !sameStatus(told, rest) {
		return false
	}
	*status = rest
	return true
}

// toldNetwork notes that the network was told.
func (a *Agent) toldNetwork(status v1.NodeNetworkStateStatus) {
	a.reported.news = a.reported.news.Told(len(status.CurrentState.Raw), a.Clock.Now())
}

// newsDue tells whether it is time for what was put off.
func (a *Agent) newsDue() bool {
	wait, news := a.reported.news.Wait(a.Clock.Now())
	return news && wait == 0
}

// untilNews is how long until what was put off is told; zero for nothing.
func (a *Agent) untilNews() time.Duration {
	wait, news := a.reported.news.Wait(a.Clock.Now())
	if !news || a.inbox.dirty.Load() { // It is read again anyway.
		return 0
	}
	return max(wait, time.Millisecond)
}

package policy

import (
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// unseenFor bounds how long an enactment that was created here is believed in
// although the cache does not show it: it may have been deleted meanwhile.
const unseenFor = 10 * time.Second

// memory is what one node's turns keep: policies as they were rendered, and
// our own writes, and what was read live, until the cache shows them.
type memory struct {
	renderings map[types.UID]rendering
	enactments map[string]writtenEnactment
	deleted    map[types.UID]bool
	state      *v1.NodeNetworkState
	// started: the state that was decided on was the newest once.
	started bool
	// behind is how many turns in a row could not write, since the cache was behind.
	behind int
	// drift is what was last told about drift.
	drift v1.NodeNetworkStateStatus
	// transaction is what was last seen of the node's, once seen: who has just
	// begun to look does not know what others were told.
	transaction *v1.Transaction
	seen        bool
	// readsReports: what the node's next report says matters to some policy.
	readsReports atomic.Bool
}

type writtenEnactment struct {
	object *v1.NodeNetworkConfigurationEnactment
	at     time.Time
}

func newMemory() *memory {
	return &memory{
		renderings: map[types.UID]rendering{},
		enactments: map[string]writtenEnactment{},
		deleted:    map[types.UID]bool{},
	}
}

// overlay puts our own writes over what the cache shows, and forgets those
// that it shows.
func (m *memory) overlay(cached []v1.NodeNetworkConfigurationEnactment, now time.Time) []v1.NodeNetworkConfigurationEnactment {
	seen, seenUID := map[string]bool{}, map[types.UID]bool{}
	var newest []v1.NodeNetworkConfigurationEnactment
	for _, object := range cached {
		seenUID[object.UID] = true
		if m.deleted[object.UID] {
			continue
		}
		seen[object.Name] = true
		if written, ok := m.enactments[object.Name]; ok {
			if newer(written.object, &object) {
				object = *written.object.DeepCopy()
			} else {
				delete(m.enactments, object.Name)
			}
		}
		newest = append(newest, object)
	}
	for uid := range m.deleted {
		if !seenUID[uid] {
			delete(m.deleted, uid)
		}
	}
	for name, written := range m.enactments {
		switch {
		case seen[name]:
		case now.Sub(written.at) > unseenFor:
			delete(m.enactments, name)
		default:
			newest = append(newest, *written.object.DeepCopy())
		}
	}
	slices.SortFunc(newest, func(a, b v1.NodeNetworkConfigurationEnactment) int { return strings.Compare(a.Name, b.Name) })
	return newest
}

// newestState is the NodeNetworkState after our own last write, or live read.
func (m *memory) newestState(cached *v1.NodeNetworkState) *v1.NodeNetworkState {
	if m.state != nil && newer(m.state, cached) {
		return m.state.DeepCopy()
	}
	m.state = nil
	return cached
}

// newer tells whether a is a later version of the object that b is.
func newer(a, b client.Object) bool {
	if a.GetUID() != b.GetUID() {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(a.GetResourceVersion(), b.GetResourceVersion())
	return err == nil && order > 0
}

// keepRenderings forgets the policies that are no more.
func (m *memory) keepRenderings(uids map[types.UID]bool) {
	for uid := range m.renderings {
		if !uids[uid] {
			delete(m.renderings, uid)
		}
	}
}

package conformance

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// Server is an API server under test. It has the product's definitions, and
// may have other objects than those of a test.
type Server interface {
	// As is a client without a cache; the name is the field manager of what
	// it writes.
	As(manager string) client.Client
	// Cached starts a cache, of which it watches the kind of like, and returns
	// when it has listed it. It ends with the test.
	Cached(t *testing.T, options cache.Options, like client.Object, indexes map[string]client.IndexerFunc) Cached
	// Eventually returns when the condition holds, and fails the test when it
	// does not for long.
	Eventually(t *testing.T, condition func() error)
	// Collects tells whether it has a garbage collector.
	Collects() bool
}

// Cached is a cache with what it was told.
type Cached interface {
	client.Reader
	// Consistent is a client that reads this cache, its own writes included.
	Consistent() client.Client
	// Changes are what the cache's subscribers were told so far, oldest first.
	Changes() []Change
}

// Change is what informers tell: New is nil for a deletion, Old for an addition.
type Change struct{ Old, New client.Object }

// stage is one sentence on a server.
type stage struct {
	*testing.T
	server Server
	api    client.Client
	prefix string
}

// Run checks every sentence.
func Run(t *testing.T, server Server) {
	number := 0
	for _, group := range []map[string]func(*stage){
		creating(), reading(), updating(), updatingParts(), updatingLittle(), patching(), patchingParts(), mergingPatches(), comparingPatches(),
		deleting(), managing(), collecting(), caching(), cachedReads(), consistentReads(),
	} {
		for _, sentence := range sortedKeys(group) {
			number++
			prefix := fmt.Sprintf("c%d", number)
			t.Run(sentence, func(t *testing.T) {
				group[sentence](&stage{T: t, server: server, api: server.As("conformance"), prefix: prefix})
			})
		}
	}
}

// name makes one that no other sentence has.
func (s *stage) name(of string) string { return s.prefix + "-" + of }

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// refused fails unless the error is of the kind, and its text has the words.
func (s *stage) refused(err error, is func(error) bool, words ...string) {
	s.Helper()
	if err == nil || !is(err) {
		s.Errorf("got the error %v", err)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			s.Errorf("the error %q lacks %q", err, word)
		}
	}
}

// read reads an object anew.
func read[T any, P interface {
	*T
	client.Object
}](s *stage, o P,
) P {
	s.Helper()
	got := P(new(T))
	s.must(s.api.Get(s.Context(), client.ObjectKeyFromObject(o), got))
	return got
}

// there tells whether the object is.
func (s *stage) there(o client.Object) bool {
	s.Helper()
	err := s.api.Get(s.Context(), client.ObjectKeyFromObject(o), o.DeepCopyObject().(client.Object))
	if client.IgnoreNotFound(err) != nil {
		s.Fatal(err)
	}
	return err == nil
}

func (s *stage) node(of string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: s.name(of)}}
}

func (s *stage) state(of string) *v1.NodeNetworkState {
	return &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: s.name(of)}}
}

func (s *stage) policy(of string) *v1.NodeNetworkConfigurationPolicy {
	return &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: s.name(of)}}
}

func (s *stage) enactment(of string) *v1.NodeNetworkConfigurationEnactment {
	return &v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{Name: s.name(of)}}
}

func (s *stage) created(objects ...client.Object) {
	s.Helper()
	for _, o := range objects {
		s.must(s.api.Create(s.Context(), o))
	}
}

// same compares a field.
func same[T comparable](s *stage, what string, got, want T) {
	s.Helper()
	if got != want {
		s.Errorf("%s is %v, want %v", what, got, want)
	}
}

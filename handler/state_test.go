package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"

	"github.com/nmstate/kubernetes-nmstate/handler/access"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

func TestTheWholeStateIsServedToWhomTheAPIServerLetsOnly(t *testing.T) {
	at := testclock.NewFakeClock(time.Unix(0, 0))
	open := access.Metrics(":1", true, at)
	if serveState(&open, nil); len(open.ExtraHandlers) > 0 {
		t.Error("metrics for everybody come with the state for everybody")
	}
	guarded := access.Metrics(":1", false, at)
	var read *state.State
	serveState(&guarded, func() (state.State, bool) {
		if read == nil {
			return state.State{}, false
		}
		return *read, true
	})
	ask := func(method string) *httptest.ResponseRecorder {
		response := httptest.NewRecorder()
		guarded.ExtraHandlers[statePath].ServeHTTP(response, httptest.NewRequest(method, statePath, nil))
		return response
	}
	if got := ask(http.MethodGet); got.Code != http.StatusServiceUnavailable {
		t.Errorf("before the network was read: status %d", got.Code)
	}
	read = new(state.FromTree(map[string]any{"interfaces": []any{map[string]any{"name": "br7"}}}))
	if got := ask(http.MethodGet); got.Code != http.StatusOK || !strings.Contains(got.Body.String(), `"br7"`) {
		t.Errorf("status %d: %s", got.Code, got.Body)
	}
	if got := ask(http.MethodPost); got.Code != http.StatusMethodNotAllowed {
		t.Errorf("status %d for who writes", got.Code)
	}
}

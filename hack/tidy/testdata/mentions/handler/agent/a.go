package agent

import (
	"encoding/json"

	"github.com/nmstate/kubernetes-nmstate/handler/desired"
)

// Run uses desired.Render and desired.Merge (package merge does the rest), see
// handler/desired.Render, handler/desired/merge.go, handler/desired/testdata
// and hack/adr/0001; comeAgain is gone, json.Anything is not ours.
func Run(state any) ([]byte, error) {
	// state.Part is a field: the parameter hides the package. callAgain is below.
	callAgain := desired.Render(state)
	return json.Marshal(callAgain)
}

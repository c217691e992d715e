package nmstate

import (
	"encoding/json"
	"fmt"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Generated are NetworkManager's profiles for a state, by file name, as libnmstate
// writes them for a node that has none of it. No node is read, and none is changed.
func Generated(wanted state.State) (map[string]string, error) {
	raw, err := generate(string(wanted.JSON()))
	if err != nil {
		return nil, classified(failureOf(err))
	}
	var said struct {
		NetworkManager [][2]string `json:"NetworkManager"`
	}
	if err := json.Unmarshal([]byte(raw), &said); err != nil {
		return nil, fmt.Errorf("reading the generated profiles: %w", err)
	}
	files := map[string]string{}
	for _, file := range said.NetworkManager {
		files[file[0]] = file[1]
	}
	return files, nil
}

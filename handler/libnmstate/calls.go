package nmstate

import "fmt"

// answer is what a C call returned.
type answer struct {
	result string
	log    string
	err    error
}

// finish hands the log on, of a failed call too, and names what failed.
func (n *Nmstate) finish(doing string, a answer) (string, error) {
	if a.err != nil {
		// The failure is the more important of two.
		_ = n.writeLog(a.log)
		return "", fmt.Errorf("%s: %w", doing, a.err)
	}
	if err := n.writeLog(a.log); err != nil {
		return "", err
	}
	return a.result, nil
}

// RetrieveNetState reads the network state, as JSON.
func (n *Nmstate) RetrieveNetState() (string, error) {
	return n.finish("retrieving the network state", retrieve(n.flags))
}

// ApplyNetState brings the network to state (JSON or YAML) and returns state.
func (n *Nmstate) ApplyNetState(state string) (string, error) {
	if _, err := n.parsed(state); err != nil {
		return "", err
	}
	if _, err := n.finish("applying the network state", apply(n.flags, state, n.timeout)); err != nil {
		return "", err
	}
	return state, nil
}

// CommitCheckpoint makes permanent what was applied under the checkpoint, and
// returns it. An empty checkpoint is the first one alive, whosever it is.
func (n *Nmstate) CommitCheckpoint(checkpoint string) (string, error) {
	if _, err := n.finish("committing checkpoint "+checkpoint, commit(checkpoint)); err != nil {
		return "", err
	}
	return checkpoint, nil
}

// RollbackCheckpoint undoes what was applied under the checkpoint, and returns
// it. An empty checkpoint is the first one alive, whosever it is.
func (n *Nmstate) RollbackCheckpoint(checkpoint string) (string, error) {
	if _, err := n.finish("rolling back checkpoint "+checkpoint, rollback(checkpoint)); err != nil {
		return "", err
	}
	return checkpoint, nil
}

// GenerateConfiguration returns the files that the network backends would be
// given for state, as {"NetworkManager": [[name, content], ...]}. It touches
// nothing.
func (n *Nmstate) GenerateConfiguration(state string) (string, error) {
	if _, err := n.parsed(state); err != nil {
		return "", err
	}
	return n.finish("generating the configuration", generateConfigurations(state))
}

// GenerateDifferences returns what of newState differs from oldState, as a
// state. It touches nothing.
func (n *Nmstate) GenerateDifferences(newState, oldState string) (string, error) {
	return n.finish("generating the differences", generateDifferences(newState, oldState))
}

// NetStateFromPolicy resolves an nmpolicy ({"capture": ..., "desiredState":
// ...}) against the current state. It touches nothing.
func (n *Nmstate) NetStateFromPolicy(policy, currentState string) (string, error) {
	return n.finish("resolving the policy", netStateFromPolicy(policy, currentState))
}

// FormatNetState returns state in nmstate's own layout and order.
func (n *Nmstate) FormatNetState(state string) (string, error) {
	return n.finish("formatting the network state", format(state))
}

// ValidateNetState tells what is wrong with a state or a policy. An empty
// currentState leaves out the checks that need one. It touches nothing.
func (n *Nmstate) ValidateNetState(stateOrPolicy, currentState string) error {
	_, err := n.finish("validating the network state", validate(stateOrPolicy, currentState))
	return err
}

// parsed refuses what libnmstate cannot parse before a call that logs: such a
// call would return early and leave the library's log growing for ever
// (nmstate-clib 2.2.62, apply.rs and gen_conf.rs: no drain on that path).
func (n *Nmstate) parsed(state string) (string, error) {
	return n.finish("reading the network state", format(state))
}

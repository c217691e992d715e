package desired

// Decide says what to write now for one node.
func Decide(in Input) Decision {
	return Decision{}
}

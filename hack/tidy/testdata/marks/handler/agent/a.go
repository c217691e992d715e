package agent

// TODO: later.
func a() {
	_ = context.TODO() // a word of the code, FIXME is not
	_ = "TODO in a string"
}

// context.TODO is banned.

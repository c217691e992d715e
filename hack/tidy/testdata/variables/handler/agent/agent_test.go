package agent

var fixture string

func stub() {
	run = nil
	limit++
	fixture = "a"
}

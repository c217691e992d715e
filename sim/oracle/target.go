package oracle

// TargetOf is the target of faults that a process is: "handler/node1" is node1.
func TargetOf(process string) string {
	switch role, node := roleOf(process); role {
	case roleHandler:
		return node
	case roleControllers:
		return Controllers
	}
	return process
}

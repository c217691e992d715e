package netutil

type policyManager struct{}

type Managed struct{}

type Helper func()

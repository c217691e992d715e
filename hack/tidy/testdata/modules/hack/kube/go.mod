module example.org/ours/hack/kube

require (
	example.org/same v1.0.0
	example.org/other v1.1.0 // indirect
	example.org/replaced v0.0.0
	example.org/theirs-only v1.0.0
)

replace (
	example.org/replaced => example.org/replaced v1.3.0
)

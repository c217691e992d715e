module example.org/ours

require (
	example.org/same v1.0.0
	example.org/other v1.2.0 // indirect
	example.org/replaced v1.3.0
	example.org/ours-only v1.0.0
)

package tidy

// Rule is one house rule.
type Rule struct {
	// Name is what the list of breaches calls the rule.
	Name string
	// Check returns the breaches in the order of the tree.
	Check func(Tree) []Breach
}

// Rules are all of them.
func Rules() []Rule {
	return []Rule{
		{"imports", Imports},
		{"bans", Bans},
		{"variables", Variables},
		{"lengths", Lengths},
		{"documents", Documents},
		{"names", Names},
		{"marks", Marks},
		{"skips", Skips},
		{"make help", MakeHelp},
		{"modules", Modules},
		{"mentions", Mentions},
	}
}

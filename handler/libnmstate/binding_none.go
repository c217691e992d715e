//go:build !(cgo && nmstate)

package nmstate

func notBuilt() answer { return answer{err: ErrNotBuilt} }

func retrieve(uint32) answer                 { return notBuilt() }
func apply(uint32, string, uint32) answer    { return notBuilt() }
func commit(string) answer                   { return notBuilt() }
func rollback(string) answer                 { return notBuilt() }
func generateConfigurations(string) answer   { return notBuilt() }
func generateDifferences(_, _ string) answer { return notBuilt() }
func netStateFromPolicy(_, _ string) answer  { return notBuilt() }
func format(string) answer                   { return notBuilt() }
func validate(_, _ string) answer            { return notBuilt() }

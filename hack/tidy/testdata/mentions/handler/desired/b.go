package desired

// Render is what the other file names.
func Render(state any) any { return state }

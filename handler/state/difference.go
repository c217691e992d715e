package state

// Difference is one leaf in which two states differ.
type Difference struct {
	// Path is where: "interfaces[eth1].mtu".
	Path string
	// Want is the value there should be (Missing) or was before (Diff), Got
	// the one there is; empty for nothing.
	Want, Got string
}

// String is the difference in one line.
func (d Difference) String() string {
	switch {
	case d.Want == "":
		return d.Path + ": " + d.Got + " should not be there"
	case d.Got == "":
		return d.Path + ": " + d.Want + " is missing"
	}
	return d.Path + ": is " + d.Got + ", should be " + d.Want
}

package state

// Difference is one leaf in which two states differ.
type Difference struct {
	// Path is where: "interfaces[eth1].mtu".
	Path Path
	// Want is the value there should be (Missing) or was before (Diff), Got
	// the one there is; empty for nothing.
	Want, Got string
}

// String is the difference in one line.
func (d Difference) String() string {
	switch {
	case d.Want == "":
		return d.Path.String() + ": " + d.Got + " should not be there"
	case d.Got == "":
		return d.Path.String() + ": " + d.Want + " is missing"
	}
	return d.Path.String() + ": is " + d.Got + ", should be " + d.Want
}

// NotUp is an interface that is to be up, and of which somebody who knows says that it is
// something else.
func NotUp(want Interface, got string) Difference {
	return Difference{Path: pathOf(want).At("state"), Want: "up", Got: got}
}

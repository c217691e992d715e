package state

import "strings"

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

// NotUp is an interface that is to be up, and of which somebody who knows says that it is
// something else.
func NotUp(want Interface, got string) Difference {
	return Difference{Path: interfacePath(want) + ".state", Want: "up", Got: got}
}

// Interface is the name of the interface that differs, or by which a route that differs
// leads; empty for anything else.
func (d Difference) Interface() string {
	if name, _ := InterfaceAt(d.Path); name != "" {
		return name
	}
	if !strings.HasPrefix(d.Path, "routes.") {
		return ""
	}
	_, link, _ := strings.Cut(d.Want+d.Got, " dev ")
	link, _, _ = strings.Cut(link, " ")
	return link
}

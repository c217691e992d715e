package foreign

// Snapshot is the kernel's links, addresses and routes at one moment, in the
// order in which the kernel told them. It is plain data for the journal.
type Snapshot struct {
	Links     []Link    `json:"links,omitempty"`
	Addresses []Address `json:"addresses,omitempty"`
	Routes    []Route   `json:"routes,omitempty"`
}

// Address is the body of a netlink message (RTM_NEWADDR) as the kernel told it.
type Address []byte

// Route is the body of a netlink message (RTM_NEWROUTE) as the kernel told it.
type Route []byte

// Link is what is compared of a link.
type Link struct {
	Name string `json:"name"`
	// Index is the kernel's number: a link that was made anew has another one.
	Index int `json:"index"`
	// Kind is empty for a physical link.
	Kind string `json:"kind,omitempty"`
	// Master is the index of the bridge, bond or VRF that the link is a port of.
	Master int `json:"master,omitempty"`
	// Parent is the index of the link that this one stands on.
	Parent  int    `json:"parent,omitempty"`
	MTU     int    `json:"mtu"`
	MAC     string `json:"mac,omitempty"`
	Up      bool   `json:"up,omitempty"`
	Carrier bool   `json:"carrier,omitempty"`
	// IPv6Off: the kernel's disable_ipv6. NetworkManager sets it for a profile
	// without IPv6, and leaves it set when the profile goes.
	IPv6Off bool `json:"ipv6Off,omitempty"`
}

// index finds links by number and by name.
type index struct {
	byIndex map[int]Link
	byName  map[string]Link
}

func indexed(links []Link) index {
	found := index{byIndex: make(map[int]Link, len(links)), byName: make(map[string]Link, len(links))}
	for _, link := range links {
		found.byIndex[link.Index] = link
		found.byName[link.Name] = link
	}
	return found
}

// name of a link, for people.
func (i index) name(number int) string { return i.byIndex[number].Name }

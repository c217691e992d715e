package nmstate

import (
	"fmt"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"github.com/nmstate/kubernetes-nmstate/handler/dump"
)

// keepsOffController are the kinds of link that take what their NIC receives, as a bridge
// and a bond would: the kernel lets no NIC have both.
var keepsOffController = map[string]bool{"macvlan": true, "macvtap": true, "ipvlan": true, "ipvtap": true}

// standingOn is a link that lets a NIC not become the port of a controller, and whether it
// is in another network namespace, such as a pod's; empty for none. What cannot be read
// is not known.
func standingOn(nic string) (name string, elsewhere bool) {
	link, err := netlink.LinkByName(nic)
	if err != nil {
		return "", false
	}
	found := func(namespace *int32) string {
		links, err := dump.Whole(func() ([]netlink.Link, error) { return linksOf(namespace) })
		if err != nil {
			return ""
		}
		for _, one := range links {
			// The number is one of the namespace of the NIC, which is another one for what is in a pod.
			other := one.Attrs().NetNsID >= 0
			if keepsOffController[one.Type()] && one.Attrs().ParentIndex == link.Attrs().Index && other == (namespace != nil) {
				return one.Attrs().Name
			}
		}
		return ""
	}
	if name := found(nil); name != "" {
		return name, false
	}
	namespaces, err := knownNamespaces()
	if err != nil {
		return "", false
	}
	for _, namespace := range namespaces {
		if name := found(&namespace); name != "" {
			return name, true
		}
	}
	return "", false
}

// linksOf lists the links of a network namespace that this one has a number for, nil for this one.
func linksOf(namespace *int32) ([]netlink.Link, error) {
	request := nl.NewNetlinkRequest(unix.RTM_GETLINK, unix.NLM_F_DUMP)
	request.AddData(nl.NewIfInfomsg(unix.AF_UNSPEC))
	if namespace != nil {
		request.AddData(nl.NewRtAttr(unix.IFLA_TARGET_NETNSID, nl.Uint32Attr(uint32(*namespace))))
	}
	messages, err := request.Execute(unix.NETLINK_ROUTE, unix.RTM_NEWLINK)
	if err != nil {
		return nil, fmt.Errorf("listing links: %w", err)
	}
	links := make([]netlink.Link, 0, len(messages))
	for _, message := range messages {
		link, err := netlink.LinkDeserialize(nil, message)
		if err != nil {
			return nil, fmt.Errorf("reading a link: %w", err)
		}
		links = append(links, link)
	}
	return links, nil
}

// knownNamespaces are the numbers of the network namespaces that have to do with this one:
// those at the other end of a veth, say.
func knownNamespaces() ([]int32, error) {
	request := nl.NewNetlinkRequest(unix.RTM_GETNSID, unix.NLM_F_DUMP)
	request.AddData(nl.NewRtGenMsg())
	messages, err := request.Execute(unix.NETLINK_ROUTE, unix.RTM_NEWNSID)
	if err != nil {
		return nil, fmt.Errorf("listing network namespaces: %w", err)
	}
	var found []int32
	for _, message := range messages {
		attributes, err := nl.ParseRouteAttr(message[nl.NewRtGenMsg().Len():])
		if err != nil {
			return nil, fmt.Errorf("reading the number of a network namespace: %w", err)
		}
		for _, a := range attributes {
			if a.Attr.Type == unix.NETNSA_NSID && len(a.Value) == 4 {
				found = append(found, int32(nl.NativeEndian().Uint32(a.Value)))
			}
		}
	}
	return found, nil
}

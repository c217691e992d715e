package foreign

import "slices"

// MaxRoutes bounds what a journal has to hold. Beyond it, see Bounded.
const MaxRoutes = 20000

// Bounded leaves out what a routing daemon made where there are too many
// routes: a daemon keeps a table of its own and makes good what is missing.
// left says how many are not in the snapshot.
func (s Snapshot) Bounded() (bounded Snapshot, left int) {
	if len(s.Routes) <= MaxRoutes {
		return s, 0
	}
	bounded = s
	bounded.Routes = nil
	for _, raw := range s.Routes {
		r, ok := raw.read()
		daemon := ok && r.protocol > protocolStatic && r.protocol != protocolDHCP
		if !daemon && len(bounded.Routes) < MaxRoutes {
			bounded.Routes = append(bounded.Routes, raw)
		}
	}
	return bounded, len(s.Routes) - len(bounded.Routes)
}

// Since is what is to be there after a rollback that is about to begin, now:
// what was there before the change, and what somebody else has added since.
// kept says that nothing was lost once the change was in place: then what is
// missing now was taken away by its owner, and is not to come back.
func Since(before, now Snapshot, named Named, kept bool) Snapshot {
	want := Snapshot{Links: before.Links, Addresses: before.Addresses, Routes: before.Routes}
	if kept {
		c := compared(before, now, named)
		lost := append(c.addresses(before.Addresses, now.Addresses), c.routes(before.Routes, now.Routes)...)
		want = want.less(lost, c.replaced)
	}
	was := indexed(before.Links)
	if kept {
		want.Links = latest(before.Links, now.Links, named)
	}
	for _, link := range now.Links {
		if _, known := was.byName[link.Name]; !known && !named.mayRemake(link) {
			want.Links = append(slices.Clip(want.Links), link)
		}
	}
	want.addRoutes(now, named)
	want.addAddresses(now, named)
	return want
}

// latest are the links of before as their owners have left them.
func latest(before, now []Link, named Named) []Link {
	is := indexed(now)
	var links []Link
	for _, link := range before {
		if last, there := is.byIndex[link.Index]; there && last.Name == link.Name && !named.mayRemake(link) {
			link = last
		}
		links = append(links, link)
	}
	return links
}

// less is the snapshot without what the losses are about, and without what
// has been replaced.
func (s Snapshot) less(lost []Loss, replaced []Route) Snapshot {
	gone := map[string]bool{}
	for _, loss := range lost {
		gone[string(loss.noted)] = true
	}
	for _, raw := range replaced {
		gone[string(raw)] = true
	}
	kept := Snapshot{Links: s.Links}
	for _, raw := range s.Addresses {
		if !gone[string(raw)] {
			kept.Addresses = append(kept.Addresses, raw)
		}
	}
	for _, raw := range s.Routes {
		if !gone[string(raw)] {
			kept.Routes = append(kept.Routes, raw)
		}
	}
	return kept
}

// addRoutes adds those of others that were not there before. What the change
// made itself is NetworkManager's, and a route that was moved with its address
// has its place already.
func (s *Snapshot) addRoutes(now Snapshot, named Named) {
	known := map[routeKey]bool{}
	for _, raw := range s.Routes {
		if r, ok := raw.read(); ok {
			known[r.key] = true
		}
	}
	links := indexed(s.Links)
	routes := slices.Clip(s.Routes)
	for _, raw := range now.Routes {
		r, ok := raw.read()
		if !ok || !r.lasting() || r.managed() || known[r.key] || named.takes(r, links) {
			continue
		}
		stays := true
		for _, h := range r.hops {
			_, there := links.byIndex[h.device]
			stays = stays && (there || h.device == 0)
		}
		if stays {
			routes = append(routes, raw)
		}
	}
	s.Routes = routes
}

// addAddresses adds those that somebody gave a link which the change does not
// name.
func (s *Snapshot) addAddresses(now Snapshot, named Named) {
	known := map[addressKey]bool{}
	for _, raw := range s.Addresses {
		if a, ok := raw.read(); ok {
			known[addressKey{a.device, a.local, a.peer.Bits()}] = true
		}
	}
	links := indexed(s.Links)
	addresses := slices.Clip(s.Addresses)
	for _, raw := range now.Addresses {
		a, ok := raw.read()
		link, there := links.byIndex[a.device]
		if ok && there && !named.mayRemake(link) && !a.managed && !known[addressKey{a.device, a.local, a.peer.Bits()}] {
			addresses = append(addresses, raw)
		}
	}
	s.Addresses = addresses
}

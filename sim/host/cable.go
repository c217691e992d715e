package host

// SetCable plugs a NIC's cable in, or pulls it: its carrier follows, over reboots
// too. A host without that NIC does not mind.
func (h *Host) SetCable(name string, plugged bool) {
	for i := range h.nics {
		if h.nics[i].Name == name {
			h.nics[i].Unplugged = !plugged
		}
	}
	l := h.kernel.link(name, false)
	if l == nil || l.Cable == plugged {
		return
	}
	e := h.kernel.edit()
	e.change(l, func(l *Link) { l.Cable = plugged })
	h.put(e)
}

package lab

import (
	"encoding/binary"
	"fmt"
	"net"
	"time"
)

// An LLDP frame's limits and numbers (IEEE 802.1AB, 802.1Q annex D). No library:
// the one for this has not been kept for years, and these are six TLVs.
const (
	lldpEtherType = 0x88cc
	// lldpGroup is the address of the nearest bridge, which forwards it to nobody.
	lldpGroup = "\x01\x80\xc2\x00\x00\x0e"
	// lldpTTL is how long a neighbour is remembered after its last frame, in
	// seconds. Frames come every lldpInterval; the rest is for a busy machine.
	lldpTTL      = 30
	lldpInterval = time.Second
	maxLLDPName  = 255
	// Each announced VLAN takes 17 octets at most, and a frame holds 1500.
	maxLLDPVLANs = 60
)

// lldpFrame is the Ethernet frame that a switch's port with this address and
// name sends to its neighbour.
func lldpFrame(l LLDPSpec, source net.HardwareAddr, port string) ([]byte, error) {
	chassis, err := net.ParseMAC(l.ChassisID)
	if err != nil {
		return nil, fmt.Errorf("reading the chassis id: %w", err)
	}
	frame := append([]byte(lldpGroup), source...)
	frame = binary.BigEndian.AppendUint16(frame, lldpEtherType)
	frame = appendTLV(frame, 1, append([]byte{4}, chassis...)) // chassis id: a MAC address
	frame = appendTLV(frame, 2, append([]byte{5}, port...))    // port id: an interface's name
	frame = appendTLV(frame, 3, binary.BigEndian.AppendUint16(nil, lldpTTL))
	if l.SystemName != "" {
		frame = appendTLV(frame, 5, []byte(l.SystemName))
	}
	for _, id := range l.VLANs {
		name := fmt.Sprintf("vlan%d", id)
		value := []byte{0x00, 0x80, 0xc2, 3} // IEEE 802.1, VLAN name
		value = binary.BigEndian.AppendUint16(value, uint16(id))
		value = append(value, byte(len(name)))
		frame = appendTLV(frame, 127, append(value, name...))
	}
	return appendTLV(frame, 0, nil), nil // end
}

// appendTLV adds a type of 7 bits, a length of 9 bits and the value.
func appendTLV(frame []byte, kind int, value []byte) []byte {
	frame = binary.BigEndian.AppendUint16(frame, uint16(kind<<9|len(value)))
	return append(frame, value...)
}

package lab

import (
	"encoding/hex"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLLDPFrames(t *testing.T) {
	source := net.HardwareAddr{2, 0, 0, 0, 0, 9}
	head := "0180c200000e 020000000009 88cc" +
		" 0207 04 020000000001" + // chassis id, a MAC address
		" 0407 05 612e65746830" + // port id, an interface's name
		" 0602 001e" // 30 seconds to live
	for name, tt := range map[string]struct {
		spec LLDPSpec
		want string
	}{
		"a chassis alone is chassis, port, time to live and the end": {
			LLDPSpec{ChassisID: "02:00:00:00:00:01"},
			head + " 0000"},
		"a system name follows the time to live": {
			LLDPSpec{ChassisID: "02:00:00:00:00:01", SystemName: "leaf1"},
			head + " 0a05 6c65616631 0000"},
		"each VLAN is an organisation's own TLV with id and name": {
			LLDPSpec{ChassisID: "02:00:00:00:00:01", VLANs: []int{100, 4094}},
			head +
				" fe0e 0080c2 03 0064 07 766c616e313030" +
				" fe0f 0080c2 03 0ffe 08 766c616e34303934 0000"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := lldpFrame(tt.spec, source, "a.eth0")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.ReplaceAll(tt.want, " ", ""), hex.EncodeToString(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheLargestLLDPFrameFitsIntoEthernet(t *testing.T) {
	spec := LLDPSpec{ChassisID: "02:00:00:00:00:01", SystemName: strings.Repeat("x", maxLLDPName)}
	for i := range maxLLDPVLANs {
		spec.VLANs = append(spec.VLANs, 4000+i)
	}
	frame, err := lldpFrame(spec, make(net.HardwareAddr, 6), strings.Repeat("n", 32)+"."+strings.Repeat("i", 15))
	if err != nil {
		t.Fatal(err)
	}
	if len(frame) > 1514 {
		t.Errorf("%d octets", len(frame))
	}
}

package profiles

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAnActivationThatWasLeftOutIsTold(t *testing.T) {
	t.Parallel()
	const (
		disk    = DiskDir + "/eth2.nmconnection"
		two     = "[connection]\nuuid=u\n[ipv4]\nmethod=manual\naddress1=192.0.2.5/24,192.0.2.1\naddress2=192.0.2.6/24\n[ipv6]\nmethod=manual\naddress1=2001:DB8:0::5/64\n"
		one     = "[connection]\nuuid=u\n[ipv4]\nmethod=manual\naddress1=192.0.2.5/24\n[ipv6]\nmethod=disabled\n"
		leased  = "[connection]\nuuid=u\n[ipv4]\nmethod=auto\n[ipv6]\nmethod=auto\n"
		many    = "[connection]\nuuid=u\nmulti-connect=3\n"
		all     = `interfaces: [{name: eth2, ipv4: {address: [{ip: 192.0.2.5, prefix-length: 24}, {ip: 192.0.2.6, prefix-length: 24}]}, ipv6: {address: [{ip: "2001:db8::5", prefix-length: 64}]}}]`
		first   = `interfaces: [{name: eth2, ipv4: {address: [{ip: 192.0.2.5, prefix-length: 24}, {ip: 203.0.113.9, prefix-length: 24}]}}]`
		change  = `interfaces: [{name: eth2, type: ethernet, state: up}]`
		absence = `interfaces: [{name: eth2, type: ethernet, state: absent}]`
	)
	at := func(profile string, more ...func(*Device)) Device {
		d := Device{Name: "eth2", Profile: profile, State: Active}
		for _, change := range more {
			change(&d)
		}
		return d
	}
	gone := func(d *Device) { d.State = Disconnected }
	software := func(d *Device) { d.Software = true }
	external := func(d *Device) { d.External = true }
	for name, row := range map[string]struct {
		desired, shown  string
		profile, trial  string
		before, devices Device
		want            string
	}{
		"addresses that are to go are there": {change, all, two, one, at("u"), at("u"),
			"interfaces[eth2].ipv4.address: 192.0.2.6/24 is there still, and should go; interfaces[eth2].ipv6.address: 2001:db8::5/64 is there still, and should go"},
		"they have gone, and somebody else's is there": {change, first, two, one, at("u"), at("u"), ""},
		"the change names no address":                  {change, all, two, two, at("u"), at("u"), ""},
		"a server may lease the same ones":             {change, all, two, leased, at("u"), at("u"), ""},
		"another profile was activated":                {change, all, two, one, at("u"), at("other"), ""},
		"it is new":                                    {change, all, two, one, Device{Name: "eth1"}, at("u"), ""},
		"it had no profile":                            {change, all, two, one, at(""), at(""), ""},
		"somebody else configures it":                  {change, all, two, one, at("u", external), at("u"), ""},
		"it is to be absent, and activated":            {absence, all, two, two, at("u"), at("u"), "interfaces[eth2]: NetworkManager has it activated, it should be absent"},
		"it is to be absent, and disconnected":         {absence, first, two, two, at("u"), at("u", gone), ""},
		"its profile is for many":                      {absence, all, many, many, at("u"), at("u"), ""},
		"it is software, which the kernel shows":       {absence, all, two, two, at("u", software), at("u"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := Snapshot{Files: Files{disk: {Content: []byte(row.profile)}}, Devices: []Device{row.before}}
			trial := Snapshot{Files: Files{disk: {Content: []byte(row.trial)}}}
			got := LeftOut(parsedState(t, row.desired), parsedState(t, row.shown), before, trial, []Device{row.devices})
			if diff := cmp.Diff(row.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("what was left out differs (-want +got):\n%s", diff)
			}
		})
	}
}

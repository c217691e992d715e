package profiles

import "testing"

func TestKeyfile(t *testing.T) {
	const connection = "[connection]\nuuid=u\n"
	for sentence, test := range map[string]struct {
		content string
		want    func(keyfile) bool
	}{
		"spaces around a key and its value are not theirs": {
			content: "[connection]\n  uuid = 1-2 \n", want: func(k keyfile) bool { return k.uuid() == "1-2" }},
		"a comment, also one that looks like a key, says nothing": {
			content: "# uuid=no\n" + connection + "#id=no\n", want: func(k keyfile) bool { return k.uuid() == "u" && k.name() == "" }},
		"a value may hold what separates key and value": {
			content: connection + "id=a=b", want: func(k keyfile) bool { return k.name() == "a=b" }},
		"a key of another section is another key": {
			content: connection + "[user]\nuuid=no\nid=no\n", want: func(k keyfile) bool { return k.uuid() == "u" && k.name() == "" }},
		"what is no key file says nothing": {
			content: "\x00[[=\n]\n= =", want: func(k keyfile) bool { return k.uuid() == "" && !k.madeUp() && !k.hasIP() }},
		"the controller is called master before NetworkManager 1.46": {
			content: connection + "master=br0\nslave-type=bridge\n", want: func(k keyfile) bool { return k.controller() == "br0" && k.portOf() == "bridge" }},
		"the controller is called controller since": {
			content: connection + "controller=br0\nport-type=bridge\n", want: func(k keyfile) bool { return k.controller() == "br0" && k.portOf() == "bridge" }},
		"a static address is an IP configuration": {
			content: connection + "[ipv4]\nmethod=manual\n", want: keyfile.hasIP},
		"so is an automatic one of IPv6 alone": {
			content: connection + "[ipv4]\nmethod=disabled\n[ipv6]\nmethod=auto\n", want: keyfile.hasIP},
		"a port of a bridge has none, whatever its methods say": {
			content: connection + "master=br0\nslave-type=bridge\n[ipv4]\nmethod=auto\n", want: func(k keyfile) bool { return !k.hasIP() }},
		"a port of a VRF has": {
			content: connection + "master=vrf0\nslave-type=vrf\n[ipv4]\nmethod=manual\n", want: keyfile.hasIP},
		"link-local addresses reach nobody": {
			content: connection + "[ipv4]\nmethod=link-local\n[ipv6]\nmethod=link-local\n", want: func(k keyfile) bool { return !k.hasIP() }},
		"a profile that NetworkManager generated is made up": {
			content: connection + "[.nmmeta]\nnm-generated=true\n", want: keyfile.madeUp},
		"so is one of what somebody else configured": {
			content: connection + "[.nmmeta]\nexternal=true\n", want: keyfile.madeUp},
		"a shadow is not, and tells what it hides": {
			content: connection + "[.nmmeta]\nshadowed-storage=/etc/x\nshadowed-owned=true\n",
			want:    func(k keyfile) bool { return !k.madeUp() && k.shadows() == "/etc/x" }},
	} {
		if k := parse([]byte(test.content)); !test.want(k) {
			t.Errorf("%s: not so with %v", sentence, k)
		}
	}
}

package profiles

import (
	"strings"
	"testing"
)

func TestWhatIsWrittenBackIsCertainBeforeAnythingIsRemoved(t *testing.T) {
	shadow, bridge, nic := RunDir+"/eth0", "/etc/NetworkManager/system-connections/br0", "/etc/NetworkManager/system-connections/eth0"
	for sentence, c := range map[string]struct {
		actions []Action
		want    string
	}{
		"a bridge goes after its NIC is back": {[]Action{{Verb: Remove, Path: shadow}, {Verb: Remove, Path: bridge}, {Verb: Write, Path: nic}},
			"remove " + shadow + ", write " + nic + ", sync , remove " + bridge},
		"nothing is written, so nothing is waited for": {[]Action{{Verb: Remove, Path: shadow}, {Verb: Remove, Path: bridge}},
			"remove " + shadow + ", remove " + bridge},
	} {
		t.Run(sentence, func(t *testing.T) {
			var got []string
			for _, a := range removedLast(c.actions) {
				got = append(got, string(a.Verb)+" "+a.Path)
			}
			if text := strings.Join(got, ", "); text != c.want {
				t.Errorf("got %s", text)
			}
		})
	}
}

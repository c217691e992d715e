package state

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatNoNodeReportsIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		desired string
		want    []string
	}{
		"what is read back": {`{"interfaces":[{"name":"eth1","type":"ethernet","state":"up","mtu":1400}]}`, nil},
		"what is a hint":    {`{"interfaces":[{"name":"eth1","identifier":"name","profile-name":"x"}]}`, nil},
		"802.1X":            {`{"interfaces":[{"name":"eth1","state":"up","802.1x":{"identity":"x"}}]}`, []string{"interfaces[eth1].802.1x"}},
		"keys of MACsec": {
			`{"interfaces":[{"name":"m0","type":"macsec","macsec":{"base-iface":"eth1","mka-cak":"5","mka-ckn":"6"}}]}`,
			[]string{"interfaces[m0].macsec.mka-cak", "interfaces[m0].macsec.mka-ckn"},
		},
		"of an interface that goes": {`{"interfaces":[{"name":"eth1","state":"absent","802.1x":{"identity":"x"}}]}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			desired, err := Parse([]byte(c.desired))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, WrittenPaths(Unreadable(desired))); diff != "" {
				t.Errorf("what is named differs (-want +got):\n%s", diff)
			}
		})
	}
}

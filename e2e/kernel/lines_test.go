package kernel

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLinesLeaveOutWhatChangesByItself(t *testing.T) {
	before := `[{"ifindex":3,"ifname":"eth0","flags":["UP","BROADCAST"],"addr_info":[{"local":"b","valid_life_time":7},{"local":"a"}]}]`
	after := `[{"ifindex":9,"ifname":"eth0","flags":["BROADCAST","UP"],"addr_info":[{"local":"a"},{"local":"b","valid_life_time":3}]},{}]`
	first, err := Lines("address", []byte(before))
	if err != nil {
		t.Fatal(err)
	}
	second, err := Lines("address", []byte(after))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Error(diff)
	}
	want := []string{`address {"addr_info":[{"local":"a"},{"local":"b"}],"flags":["BROADCAST","UP"],"ifname":"eth0"}`}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Error(diff)
	}
}

// The kernel gives each VRF a random address, and the datapath of Open vSwitch, and nobody can say another.
func TestAVRFIsTheSameUnderAnotherAddress(t *testing.T) {
	lines, err := Lines("link", []byte(`[{"ifname":"vrf1","flags":["NOARP","MASTER"],"address":"a"},{"ifname":"bond1","flags":["MASTER"],"address":"b"},{"ifname":"ovs-system","address":"c"}]`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`link {"address":"b","flags":["MASTER"],"ifname":"bond1"}`, `link {"flags":["MASTER","NOARP"],"ifname":"vrf1"}`, `link {"ifname":"ovs-system"}`}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
}

// It is there from the first VRF on, whatever becomes of that.
func TestTheKernelsOwnRuleForVRFsIsNoLine(t *testing.T) {
	lines, err := Lines("rule", []byte(`[{"priority":0,"src":"all","table":"local"},{"priority":1000,"src":"all","l3mdev":null}]`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`rule {"priority":0,"src":"all","table":"local"}`}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
}

func TestAnAnswerThatIsEmptyIsNoLine(t *testing.T) {
	if lines, err := Lines("rule", []byte("\n")); err != nil || lines != nil {
		t.Errorf("%q, %v", lines, err)
	}
}

func TestAnAddressIsSettlingWhereItsLinkHasCarrier(t *testing.T) {
	const steady = `address {"addr_info":[{"local":"a"}],"flags":["UP"],"ifname":"eth0"}` + "\n"
	for sentence, c := range map[string]struct {
		line string
		want bool
	}{
		"all addresses are checked":                       {steady, false},
		"one is being checked":                            {`address {"addr_info":[{"local":"a","tentative":true}],"flags":["UP"]}`, true},
		"a bridge without ports has no carrier":           {`address {"addr_info":[{"local":"a","tentative":true}],"flags":["NO-CARRIER","UP"]}`, false},
		"a link is down whose address is not checked yet": {`address {"addr_info":[{"local":"a","tentative":true}],"flags":[]}`, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := Settling(steady + c.line + "\n" + steady); got != c.want {
				t.Errorf("%t", got)
			}
		})
	}
}

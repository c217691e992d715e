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

func TestAnAnswerThatIsEmptyIsNoLine(t *testing.T) {
	if lines, err := Lines("rule", []byte("\n")); err != nil || lines != nil {
		t.Errorf("%q, %v", lines, err)
	}
}

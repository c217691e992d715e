package desired

import (
	"testing"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestAnApprovalIsForAGenerationAndARenderingIfItNamesOne(t *testing.T) {
	tests := map[string]struct {
		generation    int64
		hash, granted string
		held          *Contribution
		want          bool
	}{
		"a generation is approved however it comes out":                      {3, "new", "", nil, true},
		"another generation is not":                                          {2, "new", "", nil, false},
		"an approval of this rendering counts":                               {3, "new", "new", nil, true},
		"an approval of another rendering does not":                          {3, "new", "old", nil, false},
		"an approval of another rendering does not, whatever is committed":   {3, "new", "old", &Contribution{Generation: 2, Hash: "old"}, false},
		"the committed generation that comes out differently needs its hash": {3, "new", "", &Contribution{Generation: 3, Hash: "old"}, false},
		"and has it": {3, "new", "new", &Contribution{Generation: 3, Hash: "old"}, true},
		"the committed generation as it is committed needs none": {3, "new", "", &Contribution{Generation: 3, Hash: "new"}, true},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			policy := &Policy{Generation: 3}
			policy.Hash = test.hash
			m := &member{policy: policy, held: test.held, enactment: &v1.NodeNetworkConfigurationEnactment{
				Spec: v1.NodeNetworkConfigurationEnactmentSpec{ApprovedGeneration: test.generation, ApprovedHash: test.granted},
			}}
			if got := m.approved(); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

package desired

import (
	"testing"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestCheckKernel(t *testing.T) {
	lacks := &v1.Capabilities{LinkTypes: []string{"linux-bridge"}, MissingLinkTypes: []string{"bond", "vlan"}}
	const cause = "interfaces[bond0]: the kernel of this node cannot make interfaces of type bond (operation not supported); give the node a kernel or module that can, or leave it out of the policy"
	for sentence, test := range map[string]struct {
		wanted, current string
		kernel          *v1.Capabilities
		want            string
	}{
		"nothing is known of the kernel":      {`{interfaces: [{name: bond0, type: bond}]}`, `{}`, nil, ""},
		"the kernel has no such links":        {`{interfaces: [{name: bond0, type: bond}]}`, `{}`, lacks, cause},
		"one that is there need not be made":  {`{interfaces: [{name: bond0, type: bond}]}`, `{interfaces: [{name: bond0, type: bond}]}`, lacks, ""},
		"one that is to go need not be made":  {`{interfaces: [{name: bond0, type: bond, state: absent}]}`, `{}`, lacks, ""},
		"what is in neither list may be made": {`{interfaces: [{name: d0, type: dummy}, {name: br0, type: linux-bridge}]}`, `{}`, lacks, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := ""
			if err := CheckKernel(stateOf(t, test.wanted), stateOf(t, test.current), test.kernel); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("CheckKernel() = %q, want %q", got, test.want)
			}
		})
	}
}

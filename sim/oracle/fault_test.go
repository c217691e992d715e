package oracle

import (
	"testing"

	"github.com/nmstate/kubernetes-nmstate/sim/fault"
)

func TestEveryExcuseIsOfAFaultThatThereIs(t *testing.T) {
	catalog, excused := map[string]bool{}, map[string]bool{}
	for _, kind := range fault.Catalog() {
		catalog[kind.Name] = true
	}
	for _, e := range classes() {
		for _, name := range e.faults {
			if !catalog[name] {
				t.Errorf("%s: the catalog of sim/fault has no such fault", name)
			}
			if excused[name] {
				t.Errorf("%s: it is there twice, and the first entry holds", name)
			}
			excused[name] = true
		}
	}
}

package nmstate

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

func TestAChildThatIsGivenNoStateAppliesNothing(t *testing.T) {
	var said strings.Builder
	if err := applyInChild(strings.NewReader(""), &said, io.Discard, trialOptions{rollbackAfter: time.Minute}); !errors.Is(err, errDismissed) || said.Len() > 0 {
		t.Errorf("error %v, said %q", err, said.String())
	}
}

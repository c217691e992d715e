package policy

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestWhoOwnsAPartOfADesiredState(t *testing.T) {
	for sentence, c := range map[string]struct {
		fields string
		want   bool
	}{
		"who wrote something in it":                            {`{"f:spec":{"f:desiredState":{"f:interfaces":{}}}}`, true},
		"who made it and wrote something in it":                {`{"f:spec":{"f:desiredState":{".":{},"f:dns-resolver":{}}}}`, true},
		"not who only made it, and others wrote what is in it": {`{"f:spec":{".":{},"f:desiredState":{},"f:managed":{}}}`, false},
		"not who only made it, told in full":                   {`{"f:spec":{"f:desiredState":{".":{}}}}`, false},
		"not who wrote something else":                         {`{"f:spec":{"f:nodeName":{}},"f:metadata":{}}`, false},
		"not what cannot be read":                              {`{"f:spec":3}`, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			entry := metav1.ManagedFieldsEntry{FieldsV1: metav1.NewFieldsV1(c.fields)}
			if got := ownsDesiredState(entry); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

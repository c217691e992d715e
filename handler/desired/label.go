package desired

import (
	"hash/fnv"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// NodeLabel is the value of an enactment's node label: the node's name or,
// where a label value cannot hold it, its beginning and a hash of it.
func NodeLabel(node string) string {
	const most = validation.LabelValueMaxLength
	if len(node) <= most {
		return node
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(node)) // It never fails.
	suffix := "-" + strconv.FormatUint(hash.Sum64(), 36)
	return strings.TrimRight(node[:most-len(suffix)], "-.") + suffix
}

package state

import (
	"cmp"
	"slices"
	"strconv"
)

type tagRange struct{ from, to int64 }

// trunks are a trunk's tags as sorted ranges without overlaps, since the same
// set can be written in many ways.
func trunks(value any) []string {
	var ranges []tagRange
	for _, tag := range objects(value) {
		if id, ok := integer(tag["id"]); ok {
			ranges = append(ranges, tagRange{id, id})
			continue
		}
		span := object(tag["id-range"])
		from, ok := integer(span["min"])
		to, also := integer(span["max"])
		if ok && also {
			ranges = append(ranges, tagRange{from, to})
		}
	}
	slices.SortFunc(ranges, func(a, b tagRange) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	var merged []tagRange
	for _, next := range ranges {
		if last := len(merged) - 1; last >= 0 && next.from <= merged[last].to+1 {
			merged[last].to = max(merged[last].to, next.to)
			continue
		}
		merged = append(merged, next)
	}
	var written []string
	for _, span := range merged {
		tags := strconv.FormatInt(span.from, 10)
		if span.to != span.from {
			tags += "-" + strconv.FormatInt(span.to, 10)
		}
		written = append(written, tags)
	}
	return written
}

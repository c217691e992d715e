package state

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Ranges are names in few words, in at most so many bytes: "br[0-599,700], eth7", or
// "br[0-599], and 12 more".
func Ranges(names []string, limit int) string {
	const more = len(", and 1000000000 more")
	groups := grouped(names)
	line, told := "", 0
	for _, group := range groups {
		next := group.String()
		if line != "" {
			next = ", " + next
		}
		if len(line)+len(next) > limit-more {
			break
		}
		line += next
		told += group.count()
	}
	switch left := len(names) - told; {
	case left == 0:
		return line
	case line == "":
		return fmt.Sprintf("%d names", left)
	default:
		return line + fmt.Sprintf(", and %d more", left)
	}
}

// group is names that differ in the number at their end only.
type group struct {
	prefix string
	spans  []span
}

// span is numbers without a gap; alone is a name without a number.
type span struct {
	from, to int64
	alone    bool
	times    int
}

// maxSpans are as many gaps as are told within one group.
const maxSpans = 16

func (g group) count() int {
	count := 0
	for _, s := range g.spans {
		count += s.times
	}
	return count
}

func (g group) String() string {
	if first := g.spans[0]; len(g.spans) == 1 && first.from == first.to {
		if first.alone {
			return g.prefix
		}
		return g.prefix + strconv.FormatInt(first.from, 10)
	}
	var spans []string
	for _, s := range g.spans {
		text := strconv.FormatInt(s.from, 10)
		if s.to > s.from {
			text += "-" + strconv.FormatInt(s.to, 10)
		}
		spans = append(spans, text)
	}
	return g.prefix + "[" + strings.Join(spans, ",") + "]"
}

// grouped names by what stands before their number. A group with many gaps is told in
// several.
func grouped(names []string) []group {
	type numbered struct {
		prefix string
		number int64
		alone  bool
	}
	var all []numbered
	for _, name := range names {
		prefix, number, is := splitNumber(name)
		all = append(all, numbered{plain(prefix, maxSection), number, !is})
	}
	slices.SortFunc(all, func(a, b numbered) int {
		return cmp.Or(cmp.Compare(a.prefix, b.prefix), compareBool(!a.alone, !b.alone), cmp.Compare(a.number, b.number))
	})
	var groups []group
	for _, one := range all {
		if len(groups) > 0 {
			last := &groups[len(groups)-1]
			end := &last.spans[len(last.spans)-1]
			if last.prefix == one.prefix && end.alone == one.alone {
				switch {
				case one.alone || one.number == end.to:
					end.times++
					continue
				case one.number == end.to+1:
					end.to, end.times = one.number, end.times+1
					continue
				case len(last.spans) < maxSpans:
					last.spans = append(last.spans, span{one.number, one.number, false, 1})
					continue
				}
			}
		}
		groups = append(groups, group{one.prefix, []span{{one.number, one.number, one.alone, 1}}})
	}
	return groups
}

// splitNumber takes the number off the end of a name, without leading zeros: br007 is
// "br00" and 7, so that prefix and number together are the name again.
func splitNumber(name string) (prefix string, number int64, is bool) {
	const longest = 18 // Digits that an int64 holds.
	begin := len(name)
	for begin > 0 && len(name)-begin < longest && name[begin-1] >= '0' && name[begin-1] <= '9' {
		begin--
	}
	for begin < len(name)-1 && name[begin] == '0' {
		begin++
	}
	number, err := strconv.ParseInt(name[begin:], 10, 64)
	return name[:begin], number, err == nil
}

// plain is a name as it goes into a status: a byte is one byte of JSON.
func plain(name string, limit int) string {
	name = strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' || strings.ContainsRune(`"\<>&`, r) {
			return '?'
		}
		return r
	}, name)
	if len(name) > limit {
		return name[:limit-1] + "~"
	}
	return name
}

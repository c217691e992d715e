package scenario

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// word of a line. Text was quoted.
type word struct {
	said   string
	quoted bool
}

// split cuts a line into words. A comment begins with '#' at the start of a
// word; a quote inside of quotes is written twice.
func split(line string) ([]word, error) {
	if !utf8.ValidString(line) {
		return nil, fmt.Errorf("is not UTF-8")
	}
	var words []word
	rest := strings.TrimSpace(line)
	for rest != "" && !strings.HasPrefix(rest, "#") {
		if !strings.HasPrefix(rest, "'") {
			end := strings.IndexAny(rest, " \t")
			if end < 0 {
				end = len(rest)
			}
			if strings.Contains(rest[:end], "'") {
				return nil, fmt.Errorf("%s: a quote begins in the middle of a word", rest[:end])
			}
			words = append(words, word{said: rest[:end]})
			rest = strings.TrimSpace(rest[end:])
			continue
		}
		text, after, err := quoted(rest)
		if err != nil {
			return nil, err
		}
		words = append(words, word{said: text, quoted: true})
		rest = strings.TrimSpace(after)
	}
	return words, nil
}

// quoted takes the text in quotes off the front.
func quoted(line string) (text, rest string, err error) {
	var b strings.Builder
	rest = line[1:]
	for {
		part, after, found := strings.Cut(rest, "'")
		if !found {
			return "", "", fmt.Errorf("%s: the quote does not end", line)
		}
		b.WriteString(part)
		if !strings.HasPrefix(after, "'") {
			if after != "" && after[0] != ' ' && after[0] != '\t' {
				return "", "", fmt.Errorf("%s: a blank is missing after the quote", line)
			}
			return b.String(), after, nil
		}
		b.WriteString("'")
		rest = after[1:]
	}
}

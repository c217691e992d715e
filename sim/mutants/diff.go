package mutants

import (
	"fmt"
	"strings"
)

// File is what a patch does to one file.
type File struct {
	// Path from the root of the repository.
	Path  string
	hunks []hunk
}

// hunk is a passage as it is, and as it shall be, with its context.
type hunk struct{ before, after string }

// parseDiff reads a unified diff. Line numbers in it are for people.
func parseDiff(diff string) ([]File, error) {
	var files []File
	for line := range strings.Lines(diff) {
		var last *File
		if len(files) > 0 {
			last = &files[len(files)-1]
		}
		switch {
		case strings.HasPrefix(line, "--- "):
		case strings.HasPrefix(line, "+++ b/"):
			files = append(files, File{Path: strings.TrimSpace(strings.TrimPrefix(line, "+++ b/"))})
		case last == nil:
			return nil, fmt.Errorf("%q stands before the first file", line)
		case strings.HasPrefix(line, "@@ "):
			last.hunks = append(last.hunks, hunk{})
		case len(last.hunks) == 0:
			return nil, fmt.Errorf("%q stands before the first hunk", line)
		default:
			if err := last.hunks[len(last.hunks)-1].add(line); err != nil {
				return nil, err
			}
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there is no diff")
	}
	return files, nil
}

func (h *hunk) add(line string) error {
	switch line[0] {
	case ' ':
		h.before += line[1:]
		h.after += line[1:]
	case '-':
		h.before += line[1:]
	case '+':
		h.after += line[1:]
	case '\n': // An empty line of context that lost its blank.
		h.before += line
		h.after += line
	default:
		return fmt.Errorf("%q is no line of a unified diff", line)
	}
	return nil
}

// Apply makes the mutated text of the file.
func (f File) Apply(text string) (string, error) {
	for i, h := range f.hunks {
		at, times := passage(text, h.before)
		if times != 1 {
			return "", fmt.Errorf("%s: the passage of hunk %d is there %d times, not once; make the patch anew:\n%s", f.Path, i+1, times, h.before)
		}
		text = text[:at] + h.after + text[at+len(h.before):]
	}
	return text, nil
}

// passage finds whole lines in a text: where they are the last time, and how
// often they are there.
func passage(text, lines string) (at, times int) {
	for i := 0; i < len(text); {
		if strings.HasPrefix(text[i:], lines) {
			at, times = i, times+1
		}
		end := strings.IndexByte(text[i:], '\n')
		if end < 0 {
			break
		}
		i += end + 1
	}
	return at, times
}

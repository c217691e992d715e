package state

import "encoding/json"

// deepest is how far objects and lists may stand in each other for the reader here.
const deepest = 1000

// reader makes of JSON the tree that encoding/json makes of it, with numbers as
// json.Number: in one pass instead of two, and without reflection. Every state that comes
// or goes is read, so this is a good part of what a turn costs. What is not plain, or no
// JSON at all, it leaves to encoding/json.
type reader struct {
	raw []byte
	at  int
	// words are the keys that were read: most of a state's text is few keys.
	words map[string]string
}

// read returns false where encoding/json has to say what it is.
func read(raw []byte) (map[string]any, bool) {
	r := reader{raw: raw, words: map[string]string{}}
	r.space()
	value, ok := r.value(deepest)
	r.space()
	tree, is := value.(map[string]any)
	return tree, ok && is && r.at == len(r.raw)
}

// next is the byte to be read, 0 at the end.
func (r *reader) next() byte {
	if r.at < len(r.raw) {
		return r.raw[r.at]
	}
	return 0
}

func (r *reader) space() {
	for r.at < len(r.raw) {
		switch r.raw[r.at] {
		case ' ', '\t', '\n', '\r':
			r.at++
		default:
			return
		}
	}
}

// takes tells whether the next byte, after space, is this one, and goes beyond it.
func (r *reader) takes(mark byte) bool {
	r.space()
	if r.next() != mark {
		return false
	}
	r.at++
	return true
}

func (r *reader) value(deeper int) (any, bool) {
	switch first := r.next(); {
	case deeper == 0:
		return nil, false
	case first == '{':
		return r.object(deeper)
	case first == '[':
		return r.list(deeper)
	case first == '"':
		text, ok := r.text()
		if !ok {
			return nil, false
		}
		return string(text), true
	case first == 't':
		return true, r.word("true")
	case first == 'f':
		return false, r.word("false")
	case first == 'n':
		return nil, r.word("null")
	}
	return r.number()
}

func (r *reader) object(deeper int) (any, bool) {
	r.at++
	tree := map[string]any{}
	if r.takes('}') {
		return tree, true
	}
	for {
		r.space()
		text, ok := r.text()
		if !ok || !r.takes(':') {
			return nil, false
		}
		key, known := r.words[string(text)]
		if !known {
			key = string(text)
			r.words[key] = key
		}
		r.space()
		if tree[key], ok = r.value(deeper - 1); !ok {
			return nil, false
		}
		if !r.takes(',') {
			return tree, r.takes('}')
		}
	}
}

func (r *reader) list(deeper int) (any, bool) {
	r.at++
	items := []any{}
	if r.takes(']') {
		return items, true
	}
	for {
		r.space()
		item, ok := r.value(deeper - 1)
		if !ok {
			return nil, false
		}
		items = append(items, item)
		if !r.takes(',') {
			return items, r.takes(']')
		}
	}
}

// text is a string between its quotes; the bytes are those of the document.
func (r *reader) text() ([]byte, bool) {
	if r.next() != '"' {
		return nil, false
	}
	r.at++
	for from := r.at; r.at < len(r.raw); r.at++ {
		switch c := r.raw[r.at]; {
		case c == '"':
			r.at++
			return r.raw[from : r.at-1], true
		case c == '\\', c >= 0x80:
			return r.escaped(from)
		case c < ' ':
			return nil, false
		}
	}
	return nil, false
}

// escaped is a string that says something with more than its own bytes, or whose
// bytes may not be UTF-8.
func (r *reader) escaped(from int) ([]byte, bool) {
	for ; r.at < len(r.raw) && r.raw[r.at] != '"'; r.at++ {
		if r.raw[r.at] == '\\' {
			r.at++
		}
	}
	r.at++
	if r.at > len(r.raw) {
		return nil, false
	}
	var text string
	err := json.Unmarshal(r.raw[from-1:r.at], &text)
	return []byte(text), err == nil
}

func (r *reader) word(want string) bool {
	if r.at+len(want) > len(r.raw) || string(r.raw[r.at:r.at+len(want)]) != want {
		return false
	}
	r.at += len(want)
	return true
}

func (r *reader) number() (any, bool) {
	size := numberIn(r.raw[r.at:])
	r.at += size
	return json.Number(r.raw[r.at-size : r.at]), size > 0
}

// numberIn is the length of the number that a text begins with, 0 for none.
func numberIn[T string | []byte](text T) int {
	at := 0
	if at < len(text) && text[at] == '-' {
		at++
	}
	if at < len(text) && text[at] == '0' {
		at++
	} else if at = digitsIn(text, at); at < 0 {
		return 0
	}
	if at < len(text) && text[at] == '.' {
		if at = digitsIn(text, at+1); at < 0 {
			return 0
		}
	}
	if at < len(text) && (text[at] == 'e' || text[at] == 'E') {
		at++
		if at < len(text) && (text[at] == '+' || text[at] == '-') {
			at++
		}
		if at = digitsIn(text, at); at < 0 {
			return 0
		}
	}
	return at
}

// digitsIn is where the digits end that begin there; -1 where there are none.
func digitsIn[T string | []byte](text T, from int) int {
	at := from
	for at < len(text) && '0' <= text[at] && text[at] <= '9' {
		at++
	}
	if at == from {
		return -1
	}
	return at
}

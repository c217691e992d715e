package scenario

import (
	"errors"
	"strings"
)

// scriptLine is a line of a script, or what is wrong with it.
type scriptLine struct {
	number int
	text   string
	wrong  error
}

const (
	// eachPhase begins lines that stand for themselves once for each phase that it
	// names, with that in the place of the word phaseWord; endOfEach ends them.
	eachPhase = "each"
	phaseWord = "PHASE"
	endOfEach = "end"
)

// repeated are the lines of a script, with those between "each PHASE A B" and "end"
// written out for A and then for B.
func repeated(script string) []scriptLine {
	var all, block []scriptLine
	var phases []string
	begun := scriptLine{} // the line of the "each" that is open
	number := 0
	for text := range strings.Lines(script) {
		number++
		line := scriptLine{number: number, text: strings.TrimRight(text, "\r\n")}
		words := strings.Fields(line.text)
		switch first := append(words, "")[0]; {
		case first == eachPhase && len(words) < 3, first == eachPhase && words[1] != phaseWord:
			line.wrong = errors.New("it reads: each PHASE Applying Probing, with one phase at least")
			all = append(all, line)
		case first == eachPhase && begun.number > 0:
			line.wrong = errors.New("there is no each within an each: end is missing before it")
			all = append(all, line)
		case first == eachPhase:
			begun, phases = line, words[2:]
		case first == endOfEach && len(words) == 1 && begun.number == 0:
			line.wrong = errors.New("there is no each before this end")
			all = append(all, line)
		case first == endOfEach && len(words) == 1:
			all = append(all, written(block, phases)...)
			begun, block = scriptLine{}, nil
		case begun.number > 0:
			block = append(block, line)
		default:
			all = append(all, line)
		}
	}
	if begun.number > 0 {
		begun.wrong = errors.New("end is missing after this each")
		all = append(all, begun)
	}
	return all
}

func written(block []scriptLine, phases []string) []scriptLine {
	var all []scriptLine
	for _, phase := range phases {
		for _, line := range block {
			words := strings.Split(line.text, " ")
			for i := range words {
				if words[i] == phaseWord {
					words[i] = phase
				}
			}
			line.text = strings.Join(words, " ")
			all = append(all, line)
		}
	}
	return all
}

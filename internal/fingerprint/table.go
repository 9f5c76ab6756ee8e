package fingerprint

import _ "embed" // of the tables

// A char is a code point of a form, with its class above. In runs, the highest bit says that
// another char follows.
type char uint32

const (
	classShift = 21
	runeMask   = 1<<classShift - 1
	more       = 1 << 31
)

// A class says what the forms do with a character. From class latin on, it is the Latin letter that
// the character is or looks like.
type class uint32

const (
	space       class = iota // white space and control characters, all of them U+0020
	punctuation              // also signs of mathematics and currencies
	digit                    // any number
	symbol                   // emoji and the rest
	letter                   // of another script, or a mark that spells
	latin                    // a to z
	classes     = latin + 26
)

func newChar(c rune, of class) char {
	return char(c) | char(of)<<classShift
}

func (c char) class() class {
	return class(c >> classShift & 0x1f)
}

// The tables are generated, from Unicode's data. A leaf below firstRun is the class of a code point
// that stays as it is. From firstRun on, it is firstRun and the index of the first char of a run.
//
//go:generate go test -run TestTable_UpToDate -update-table .
var (
	//go:embed table/blocks.bin
	blocks string // by code point/blockSize: the number of its block of leaves
	//go:embed table/leaves.bin
	leaves string
	//go:embed table/runs.bin
	runs string
)

const (
	blockBits = 6
	blockSize = 1 << blockBits
	firstRun  = uint32(classes)
	ignored   = 1<<16 - 1 // the leaf of what is left out
	syllable  = 1<<16 - 2 // the leaf of a syllable of Hangul
	tableEnd  = 0x32400   // above, there are only symbols, and tags
	firstTag  = 0xe0000
	lastTag   = 0xe0fff
)

// lookup returns the leaf of a code point.
func lookup(c rune) uint32 {
	if c >= tableEnd {
		if firstTag <= c && c <= lastTag {
			return ignored
		}
		return uint32(symbol)
	}
	block := uint16At(blocks, int(c)>>blockBits)
	return uint32(uint16At(leaves, int(block)<<blockBits|int(c)&(blockSize-1)))
}

func uint16At(table string, i int) uint16 {
	i *= 2
	return uint16(table[i]) | uint16(table[i+1])<<8
}

// runAt returns a char of a run.
func runAt(i uint32) char {
	s := runs[4*int(i):]
	return char(s[0]) | char(s[1])<<8 | char(s[2])<<16 | char(s[3])<<24
}

// ascii has the chars of ASCII, each of which is one, so that most texts need no table.
var ascii = func() (chars [128]char) {
	for c := range rune(len(chars)) {
		if leaf := lookup(c); leaf < firstRun {
			chars[c] = newChar(c, class(leaf))
		} else {
			chars[c] = runAt(leaf - firstRun)
		}
	}
	return chars
}()

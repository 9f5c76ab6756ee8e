package fingerprint

import "unicode/utf8"

// form is a normalized text.
type form struct {
	chars  [MaxLength]char
	length int
}

// normalize makes the exact form of a text.
func (f *form) normalize(text string) {
	if len(text) > MaxBytes {
		text = text[:MaxBytes]
	}
	for i := 0; i < len(text) && f.length < MaxLength; {
		c, size := rune(text[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRuneInString(text[i:])
		}
		i += size
		f.decompose(c)
	}
	for f.length > 0 && cut(f.chars[f.length-1]) {
		f.length--
	}
}

// cut reports whether c is left out at the end: a space, or what is left of a character after the
// sender has cut the text.
func cut(c char) bool {
	return c.class() == space || c&runeMask == utf8.RuneError
}

// decompose adds the characters that a code point is made of.
func (f *form) decompose(c rune) {
	if s := uint32(c - firstSyllable); s < syllables {
		f.add(jamo(firstLead + s/(vowels*trails)))
		f.add(jamo(firstVowel + s/trails%vowels))
		if s%trails > 0 {
			f.add(jamo(firstTrail + s%trails))
		}
		return
	}
	leaf := lookup(c)
	if leaf < firstRun {
		f.add(char(c) | char(leaf)<<classShift)
		return
	}
	for i := leaf - firstRun; ; i++ {
		part := runAt(i)
		f.add(part &^ more)
		if part&more == 0 {
			return
		}
	}
}

// add adds a character, unless it repeats the last one or is left out.
func (f *form) add(c char) {
	class := c.class()
	if class == ignored || f.length == MaxLength {
		return
	}
	if f.length == 0 {
		if class == space {
			return
		}
	} else if f.chars[f.length-1] == c && class != digit {
		return
	}
	f.chars[f.length] = c
	f.length++
}

// The syllables of Hangul are decomposed by arithmetic (section 3.12 of the Unicode Standard).
const (
	firstSyllable = 0xac00
	firstLead     = 0x1100
	firstVowel    = 0x1161
	firstTrail    = 0x11a7 // none: the first one is the next
	vowels        = 21
	trails        = 28
	syllables     = 19 * vowels * trails
)

func jamo(c uint32) char {
	return char(c) | char(letter)<<classShift
}

package fingerprint

import "unicode/utf8"

// form is a normalized text.
type form struct {
	chars  [MaxLength]char
	length int
	last   char
}

// normalize makes the exact form of a text. A text begins as if after a space.
func (f *form) normalize(text string) {
	if len(text) > MaxBytes {
		text = text[:MaxBytes]
	}
	f.last = newChar(' ', space)
	for i := 0; i < len(text) && f.length < MaxLength; {
		if b := text[i]; b < utf8.RuneSelf {
			f.add(ascii[b])
			i++
			continue
		}
		c, size := decode(text[i:])
		i += size
		if leaf := lookup(c); leaf < firstRun {
			f.add(newChar(c, class(leaf)))
		} else {
			f.decompose(c, leaf)
		}
	}
	for f.length > 0 && cut(f.chars[f.length-1]) {
		f.length--
	}
}

// decode is utf8.DecodeRuneInString, but faster for most characters of two and three bytes.
func decode(text string) (rune, int) {
	if len(text) >= 3 && text[1]&0xc0 == 0x80 {
		switch b := text[0]; {
		case 0xc2 <= b && b < 0xe0:
			return rune(b&0x1f)<<6 | rune(text[1]&0x3f), 2
		case 0xe0 < b && b < 0xed && text[2]&0xc0 == 0x80:
			return rune(b&0x0f)<<12 | rune(text[1]&0x3f)<<6 | rune(text[2]&0x3f), 3
		}
	}
	return utf8.DecodeRuneInString(text)
}

// add adds a character, unless it repeats the last one.
func (f *form) add(c char) {
	if c == f.last && c.class() != digit || f.length == MaxLength {
		return
	}
	f.last = c
	f.chars[f.length] = c
	f.length++
}

// decompose adds the characters that a code point is made of, if any.
func (f *form) decompose(c rune, leaf uint32) {
	switch leaf {
	case ignored:
	case syllable:
		f.addSyllable(uint32(c - firstSyllable))
	default:
		for i := leaf - firstRun; ; i++ {
			part := runAt(i)
			f.add(part &^ more)
			if part&more == 0 {
				return
			}
		}
	}
}

// cut reports whether c is left out at the end: a space, or what is left of a character after the
// sender has cut the text.
func cut(c char) bool {
	return c.class() == space || c&runeMask == utf8.RuneError
}

// The syllables of Hangul are decomposed by arithmetic (section 3.12 of the Unicode Standard).
const (
	firstSyllable = 0xac00
	firstLead     = 0x1100
	firstVowel    = 0x1161
	noTrail       = 0x11a7
	vowels        = 21
	trails        = 28
	syllables     = 19 * vowels * trails
)

// addSyllable adds the letters of a syllable, by its number.
func (f *form) addSyllable(s uint32) {
	f.add(newChar(rune(firstLead+s/(vowels*trails)), letter))
	f.add(newChar(rune(firstVowel+s/trails%vowels), letter))
	if s%trails > 0 {
		f.add(newChar(rune(noTrail+s%trails), letter))
	}
}

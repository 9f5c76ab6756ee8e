package fingerprint

// reduce turns the exact form into the similar one.
func (f *form) reduce() {
	text := f.chars[:f.length]
	text = text[names(text):]
	dropTail(text)
	n, last := 0, char(0)
	for _, c := range text {
		class := c.class()
		if class < symbol {
			continue
		}
		if class >= latin {
			c = newChar('a'+rune(class-latin), class)
		}
		if c != last {
			f.chars[n], last = c, c
			n++
		}
	}
	begin, end := inner(f.chars[:n])
	f.length = copy(f.chars[:], f.chars[begin:end])
}

// inner returns the part of a text without the symbols at its ends, such as emoji. A text of
// symbols only stays whole.
func inner(text []char) (begin, end int) {
	for begin < len(text) && text[begin].class() == symbol {
		begin++
	}
	if begin == len(text) {
		return 0, len(text)
	}
	for end = len(text); text[end-1].class() == symbol; {
		end--
	}
	return begin, end
}

// names returns where the text begins after the names with "@" at its beginning. If the text has
// only names, they are the text.
func names(text []char) (begin int) {
	for i, c := range text {
		switch {
		case i == begin && c&runeMask != '@':
			return begin
		case c.class() == space:
			begin = i + 1
		}
	}
	return begin
}

// dropTail makes spaces of the random words at the end: of at most two, and of at most half of all
// words.
func dropTail(text []char) {
	rest := text
	for dropped := 1; dropped <= maxDropped; dropped++ {
		begin := lastWord(rest)
		if begin < 0 || !random(rest[begin:]) {
			return
		}
		kept := begin
		for n := 0; n < dropped && kept >= 0; n++ {
			kept = lastWord(text[:kept])
		}
		if kept < 0 {
			return
		}
		for i := begin; i < len(rest) && inWord(rest[i].class()); i++ {
			rest[i] = newChar(' ', space)
		}
		rest = rest[:begin]
	}
}

// inWord reports whether words consist of the class.
func inWord(c class) bool {
	return c == digit || c >= letter
}

// lastWord returns where the last word begins, or -1 if there is none. A word consists of letters
// and digits, with at least one letter.
func lastWord(text []char) int {
	letters := false
	for i := len(text) - 1; i >= 0; i-- {
		switch class := text[i].class(); {
		case class >= letter:
			letters = true
		case class != digit && letters:
			return i + 1
		}
	}
	if letters {
		return 0
	}
	return -1
}

const maxDropped = 2 // random words

const (
	minRandom   = 5 // letters and digits of a random word without a vowel
	maxRandom   = 12
	manyChanges = 2 // between letters and digits
	manyInRow   = 5 // consonants
	vowelBits   = 1 | 1<<('e'-'a') | 1<<('i'-'a') | 1<<('o'-'a') | 1<<('u'-'a') | 1<<('y'-'a')
)

// random reports whether the word that text begins with looks as if it was made by chance. It
// consists of Latin letters and digits. It changes between them twice ("x7k2p"), or it has 5 to 12
// of them and no vowel ("xkqtz") or five consonants in a row ("akrtzpo").
func random(text []char) bool {
	length, changes, row, longestRow, vowels := 0, 0, 0, 0, 0
	for i, c := range text {
		class := c.class()
		if class == letter {
			return false
		}
		if !inWord(class) {
			break
		}
		length++
		if i > 0 && (class == digit) != (text[i-1].class() == digit) {
			changes++
		}
		if class >= latin && 1<<(class-latin)&vowelBits == 0 {
			row++
			longestRow = max(longestRow, row)
			continue
		}
		row = 0
		if class != digit {
			vowels++
		}
	}
	return changes >= manyChanges || minRandom <= length && length <= maxRandom && (vowels == 0 || longestRow >= manyInRow)
}

package fingerprint

import (
	"bytes"
	"encoding/binary"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/runenames"
)

var updateTable = flag.Bool("update-table", false, "write the tables")

// TestTable_UpToDate checks that the tables are those of this Unicode version and of
// testdata/confusables.txt.
func TestTable_UpToDate(t *testing.T) {
	for name, want := range buildTables(t) {
		path := filepath.Join("table", name+".bin")
		if *updateTable {
			must(t, os.WriteFile(path, want, 0o644))
		}
		got, err := os.ReadFile(path)
		must(t, err)
		t.Logf("%s: %d bytes", path, len(got))
		if !bytes.Equal(got, want) {
			t.Errorf("%s isn't that of Unicode %s: run go generate ./internal/fingerprint, and go test it then", path, norm.Version)
		}
	}
}

// buildTables returns what table/ holds, by name.
func buildTables(t *testing.T) map[string][]byte {
	t.Helper()
	latinOf := lookAlikes(t)
	classify := func(c rune) uint32 {
		if l := latinOf[c]; l != 0 {
			return uint32(latin) + uint32(l-'a')
		}
		return uint32(classOf(c))
	}
	var blocks, leaves, runs []byte
	numbers, begins := map[string]int{}, map[string]uint32{}
	for first := rune(0); first < tableEnd; first += blockSize {
		var block []byte
		for c := first; c < first+blockSize; c++ {
			block = binary.LittleEndian.AppendUint16(block, uint16(leafOf(c, classify, &runs, begins)))
		}
		number, known := numbers[string(block)]
		if !known {
			number = len(numbers)
			numbers[string(block)] = number
			leaves = append(leaves, block...)
		}
		blocks = binary.LittleEndian.AppendUint16(blocks, uint16(number))
	}
	for c := rune(tableEnd); c <= unicode.MaxRune; c++ {
		if exact := exactOf(c); exact != string(c) && exact != "" || (exact == "") != (firstTag <= c && c <= lastTag) || exact != "" && classOf(c) != symbol {
			t.Fatalf("U+%04X is above the table", c)
		}
	}
	if len(runs)/4 > syllable-int(firstRun) {
		t.Fatalf("%d chars in runs: too many for a leaf", len(runs)/4)
	}
	return map[string][]byte{"blocks": blocks, "leaves": leaves, "runs": runs}
}

// leafOf returns the leaf of a code point, and adds its run to the others.
func leafOf(c rune, classify func(rune) uint32, runs *[]byte, begins map[string]uint32) uint32 {
	exact := exactOf(c)
	switch {
	case firstSyllable <= c && c < firstSyllable+syllables:
		return syllable
	case exact == "":
		return ignored
	case exact == string(c):
		return classify(c)
	}
	begin, known := begins[exact]
	if !known {
		begin = firstRun + uint32(len(*runs)/4)
		begins[exact] = begin
		for i, part := range exact {
			entry := uint32(part) | classify(part)<<classShift
			if i+utf8.RuneLen(part) < len(exact) {
				entry |= more
			}
			*runs = binary.LittleEndian.AppendUint32(*runs, entry)
		}
	}
	return begin
}

// exactOf is the exact form of a code point within a text, by golang.org/x/text.
func exactOf(c rune) string {
	exact := string(c)
	for {
		next := norm.NFKD.String(foldCase(norm.NFKD.String(exact)))
		next = strings.Map(func(c rune) rune {
			switch {
			case isSpace(c):
				return ' '
			case isIgnorable(c), norm.NFKD.PropertiesString(string(c)).CCC() != 0, unicode.Is(unicode.Me, c):
				return -1
			}
			return c
		}, next)
		if next == exact {
			return exact
		}
		exact = next
	}
}

// foldCase is full case folding. In golang.org/x/text, the capitals of Cherokee become small, and
// the small ones capital; Unicode folds to capitals.
func foldCase(text string) string {
	var folded strings.Builder
	for _, c := range text {
		if unicode.Is(unicode.Cherokee, c) && c <= lastCherokeeCapital {
			folded.WriteRune(c)
		} else {
			folded.WriteString(fold.String(string(c)))
		}
	}
	return folded.String()
}

var fold = cases.Fold()

const lastCherokeeCapital = 0x13f5

const brailleBlank = 0x2800

func isSpace(c rune) bool {
	return unicode.Is(unicode.White_Space, c) || unicode.Is(unicode.Cc, c) || c == brailleBlank
}

// isIgnorable reports whether Default_Ignorable_Code_Point is true for c, as
// DerivedCoreProperties.txt derives it. Annotations are left out, too.
func isIgnorable(c rune) bool {
	const firstHieroglyphFormat, lastHieroglyphFormat = 0x13430, 0x1345f
	switch {
	case unicode.Is(unicode.Prepended_Concatenation_Mark, c), firstHieroglyphFormat <= c && c <= lastHieroglyphFormat:
		return false
	}
	return unicode.In(c, unicode.Other_Default_Ignorable_Code_Point, unicode.Cf, unicode.Variation_Selector)
}

// classOf is the class of a character that is no Latin letter.
func classOf(c rune) class {
	switch {
	case isSpace(c):
		return space
	case unicode.In(c, unicode.L, unicode.M):
		return letter
	case unicode.In(c, unicode.N):
		return digit
	case unicode.In(c, unicode.P, unicode.Sm, unicode.Sc, unicode.Sk):
		return punctuation
	}
	return symbol
}

// latinName matches the names of letters that are a Latin letter in another form.
var latinName = regexp.MustCompile(`^(?:(?:NEGATIVE )?(?:CIRCLED|SQUARED) LATIN CAPITAL LETTER|REGIONAL INDICATOR SYMBOL LETTER|LATIN LETTER SMALL CAPITAL|LATIN SMALL LETTER) ([A-Z])(?: WITH .*)?$`)

// lookAlikes returns the Latin letters, by the characters of exact forms that are or look like
// them.
func lookAlikes(t *testing.T) map[rune]rune {
	t.Helper()
	latinOf := map[rune]rune{}
	for c := rune(0); c < tableEnd; c++ {
		if name := latinName.FindStringSubmatch(runenames.Name(c)); name != nil && exactOf(c) == string(c) {
			latinOf[c] = rune(name[1][0]) - 'A' + 'a'
		}
	}
	file, err := os.ReadFile("testdata/confusables.txt")
	must(t, err)
	for line := range strings.Lines(string(file)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		source, target, _ := strings.Cut(line, ";")
		from, to := []rune(exactOf(hexRunes(t, source)[0])), ""
		for _, c := range hexRunes(t, target) {
			if !unicode.Is(unicode.M, c) {
				to += exactOf(c)
			}
		}
		if len(from) != 1 || len(to) != 1 || to < "a" || to > "z" || latinOf[from[0]] != 0 {
			t.Errorf("a line that isn't used: %s", line)
			continue
		}
		latinOf[from[0]] = rune(to[0])
	}
	return latinOf
}

func hexRunes(t *testing.T, text string) (runes []rune) {
	t.Helper()
	for _, field := range strings.Fields(text) {
		c, err := strconv.ParseUint(field, 16, 32)
		must(t, err)
		runes = append(runes, rune(c))
	}
	return runes
}

// TestTable_MatchesText checks the exact form of each code point against golang.org/x/text.
func TestTable_MatchesText(t *testing.T) {
	for c := rune(0); c <= unicode.MaxRune; c++ {
		if !utf8.ValidRune(c) {
			continue
		}
		var f form
		f.normalize(string(c) + "|") // U+FFFD isn't left out there
		want := strings.TrimLeft(string(collapse(exactOf(c)+"|")), " ")
		if got := f.String(); got != want {
			t.Errorf("U+%04X: %q, want %q", c, got, want)
		}
	}
}

// collapse leaves out what repeats the character before it, except digits.
func collapse(text string) []rune {
	return slices.CompactFunc([]rune(text), func(a, b rune) bool { return a == b && !unicode.In(a, unicode.N) })
}

// String returns the form as text.
func (f *form) String() string {
	var text []rune
	for _, c := range f.chars[:f.length] {
		text = append(text, rune(c&runeMask))
	}
	return string(text)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

package hostile

import (
	"strings"
	"unicode"
)

// TypedWords returns the words of a text as its author typed them. If a text repeats the previous
// one, chat clients append characters that show nothing, because chats drop equal texts. TypedWords
// removes such characters from the ends of each word.
func TypedWords(text string) []string {
	words := strings.FieldsFunc(text, IsBlank)
	kept := words[:0]
	for _, word := range words {
		if word = strings.TrimFunc(word, ShowsNothing); word != "" {
			kept = append(kept, word)
		}
	}
	return kept
}

// TypedName returns a name as its author typed it: without white space and characters that show
// nothing around it, and without the "@" of a mention.
func TypedName(text string) string {
	return strings.TrimLeft(strings.TrimFunc(text, IsUnseen), "@\uff20")
}

// IsUnseen reports whether a character is white space or leaves no mark where it is shown.
func IsUnseen(r rune) bool { return IsBlank(r) || ShowsNothing(r) }

// ShowsNothing reports whether a character leaves no mark where it is shown: a control character,
// one that Unicode calls default ignorable, or the braille pattern without dots.
func ShowsNothing(r rune) bool {
	return unicode.IsControl(r) || isDefaultIgnorable(r) || r == '\u2800'
}

// isDefaultIgnorable reports whether a character has Unicode's property
// Default_Ignorable_Code_Point. It is derived as in DerivedCoreProperties.txt, because package
// unicode has only the properties from which it follows.
func isDefaultIgnorable(r rune) bool {
	switch {
	case unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return true
	case unicode.In(r, unicode.White_Space, unicode.Prepended_Concatenation_Mark):
		return false
	case '\ufff9' <= r && r <= '\ufffb': // marks of annotations between the lines
		return false
	case '\U00013430' <= r && r <= '\U0001343f': // controls that arrange hieroglyphs
		return false
	}
	return unicode.Is(unicode.Cf, r)
}

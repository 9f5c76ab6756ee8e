package hostile

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		"@anna, next message in 4 s":    "@anna, next message in 4 s",
		" two\r\nlines\x00\t ":          "two lines",
		"a\u2028b\u2029c\u0085d\u00a0e": "a b c d e",
		"bad \xff\xfe bytes":            "bad ? bytes",
		"\x1b[2J":                       "[2J",
		// a direction mark is part of the text
		"\u200fשלום":                      "\u200fשלום",
		strings.Repeat("ä", 60):           strings.Repeat("ä", 50),
		strings.Repeat("x", 49) + " word": strings.Repeat("x", 49),
	} {
		if got := OneLine(text, 50); got != want || utf8.RuneCountInString(got) > 50 {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"anna\n7":                      "anna\n7",
		"\x1b[2J\u009ba\tb\x7f\r":      "[2Jab",
		"\u202eanna\u2066\u200e\u061c": "anna",
	} {
		if got := Visible(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestTruncate(t *testing.T) {
	for text, want := range map[string]string{"": "", "ab": "ab", "äöü": "äöü", "äöü😀": "äöü", "a\xff\xffb": "a\xff\xff"} {
		if got := Truncate(text, 3); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

package hostile

import (
	"slices"
	"testing"
	"unicode"
)

// defaultIgnorable are the code points with the property Default_Ignorable_Code_Point in Unicode
// 17's DerivedCoreProperties.txt.
var defaultIgnorable = [][2]rune{
	{0xad, 0xad}, {0x34f, 0x34f}, {0x61c, 0x61c}, {0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x180b, 0x180f}, {0x200b, 0x200f},
	{0x202a, 0x202e}, {0x2060, 0x206f}, {0x3164, 0x3164}, {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff0, 0xfff8},
	{0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
}

func TestShowsNothing(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		want := unicode.IsControl(r) || r == 0x2800 ||
			slices.ContainsFunc(defaultIgnorable, func(span [2]rune) bool { return span[0] <= r && r <= span[1] })
		if got := ShowsNothing(r); got != want {
			t.Errorf("%U: %v, want %v", r, got, want)
		}
	}
}

func TestTypedWords(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                 {},
		" !quota \u00a0 now\u3000":         {"!quota", "now"},
		"!quota\U000e0000":                 {"!quota"},
		"\u2060!quota \u034f \u2800\ufe0f": {"!quota"},
		"grant\u034f @anna\u200b 10\ufe0f \u034f": {"grant", "@anna", "10"},
		"!quo\u200bta": {"!quo\u200bta"},
		"\u0600a":      {"\u0600a"},
	} {
		if got := TypedWords(text); !slices.Equal(got, want) {
			t.Errorf("%q has the words %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		" @anna\u034f": "anna", "\uff20ハンサム\u2800 ": "ハンサム", "\u2068@anna b\u2069": "anna b", "\u034f": "",
	} {
		if got := TypedName(text); got != want {
			t.Errorf("%q is the name %q, want %q", text, got, want)
		}
	}
}

package hostile

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClip(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "",
		"abcdefghij":                "abcdefghij",
		"abcdefghijk":               "abcdefg…",
		"ééééé":                     "ééééé",
		"éééééé":                    "ééé…",
		"aééééé":                    "aééé…",
		"\xff\xfe ada \xc3":         "\uFFFD ada…", // longer in bytes than before
		"😀😀😀":                       "😀…",
		strings.Repeat("x", 10_000): "xxxxxxx…",
		strings.Repeat("\xff", 100): "\uFFFD",
	} {
		if got := Clip(text, 10); got != want || len(got) > 10 || !utf8.ValidString(got) {
			t.Errorf("%.20q is clipped to %q, want %q", text, got, want)
		}
	}
}

package journal

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/chatguard/chatguard"
)

func TestTextsAreClipped(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "",
		"abcdefghij":                "abcdefghij",
		"abcdefghijk":               "abcdefg…",
		"ééééé":                     "ééééé",
		"éééééé":                    "ééé…",
		"aééééé":                    "aééé…",
		"\xff\xfe ada \xc3":         "\uFFFD ada…", // which takes more bytes than it had
		"😀😀😀":                       "😀…",
		strings.Repeat("x", 10_000): "xxxxxxx…",
		strings.Repeat("\xff", 100): "\uFFFD",
	} {
		if got := Clip(text, 10); got != want || len(got) > 10 || !utf8.ValidString(got) {
			t.Errorf("%.20q is clipped to %q, want %q", text, got, want)
		}
	}
}

func TestAnEntryKeepsNoLongTexts(t *testing.T) {
	long := strings.Repeat("é", 50_000)
	e := NewEntry(chatguard.Message{ID: long, Text: long, User: chatguard.User{ID: "7", Login: long, DisplayName: long}}, chatguard.Verdict{})
	for _, text := range []struct {
		kept string
		most int
	}{{e.MessageID, MaxID}, {e.Login, MaxName}, {e.DisplayName, MaxName}, {e.Text, MaxText}} {
		if n := len(text.kept); n > text.most || n < text.most-4 {
			t.Errorf("%d bytes are kept, want %d at most: %.9q", n, text.most, text.kept)
		}
	}
}

package journal

import (
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
)

func TestNewEntry_ClipsTexts(t *testing.T) {
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

package check

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
)

// After a check, answered or cut off, no text of its message stays in memory.
func TestCheck_RetainsNoTexts(t *testing.T) {
	guard, err := chatguard.New(config.DefaultPolicy(), nil)
	if err != nil {
		t.Fatal(err)
	}
	checker := New(Options{Guard: guard})
	const message = `{"channel":"lobby","user_id":"41","text":"hello everyone"}`
	for name, body := range map[string]io.Reader{
		"answered": strings.NewReader(message), "cut off": io.MultiReader(strings.NewReader(message), iotest.ErrReader(io.ErrUnexpectedEOF)),
	} {
		c := &scratch{}
		r := httptest.NewRequest("POST", "/api/v1/check", body)
		r.Header.Set("Content-Type", "application/json")
		var read checkedMessage
		if err := readChecked(httptest.NewRecorder(), r, c, &read, strict); (err == nil) != (name == "answered") {
			t.Fatalf("%s: %v", name, err)
		}
		checker.addMessage(c, &read)
		messages := c.messages
		c.free()
		memory := c.body.AvailableBuffer()
		memory = memory[:cap(memory)]
		if len(memory) < len(message) || strings.Contains(string(memory), "everyone") || messages[0].Text != "" {
			t.Errorf("%s: %q %+v", name, memory, messages)
		}
	}
}

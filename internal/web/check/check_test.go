package check

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
)

// Once a check is answered, no text of its message stays in memory.
func TestCheck_RetainsNoTexts(t *testing.T) {
	guard, err := chatguard.New(config.DefaultPolicy(), nil)
	if err != nil {
		t.Fatal(err)
	}
	checker := New(Options{Guard: guard, Now: guard.Now})
	c := &scratch{}
	r := httptest.NewRequest("POST", "/api/v1/check", strings.NewReader(`{"channel":"lobby","user_id":"41","text":"hello everyone"}`))
	r.Header.Set("Content-Type", "application/json")
	var read checkedMessage
	if err := readChecked(httptest.NewRecorder(), r, c, &read, strict); err != nil {
		t.Fatal(err)
	}
	checker.addMessage(c, &read)
	body, messages := c.body.Bytes(), c.messages
	c.free()
	if strings.Contains(string(body), "everyone") || messages[0].Text != "" {
		t.Errorf("%q %+v", body, messages)
	}
}

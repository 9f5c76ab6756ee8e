package language

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/web/static"
)

func TestTexts_Wait(t *testing.T) {
	english := Chat("en")
	for _, d := range []time.Duration{-time.Hour, 0, 1, time.Second, 119 * time.Second, 119*time.Second + 1, time.Hour, 119 * time.Minute, 2 * time.Hour, 47*time.Hour + 1, 48 * time.Hour, 90 * 24 * time.Hour} {
		if got, want := english.Wait(d), chatguard.FormatWait(d); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
}

func TestTexts_Plural(t *testing.T) {
	for n, want := range map[int]string{1: "@anna has 1 more message for 4 s.", 2: "@anna has 2 more messages for 4 s.", 0: "@anna has 0 more messages for 4 s."} {
		if got := Chat("en").Text("granted", Values{"user": "@anna", "n": n, "wait": "4 s"}); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}

// A value is never read as a text: names in chat may contain anything.
func TestTexts_HostileValue(t *testing.T) {
	if got := Chat("xx").Text("reset", Values{"user": "{{user}}{{n}}$1%s"}); got != "{{user}}{{n}}$1%s has been reset." {
		t.Error(got)
	}
}

func TestTexts_LimitTitle(t *testing.T) {
	for _, test := range []struct{ language, name, title, want string }{
		{"en", "daily", "", "daily"},
		{"de", "daily", "", "täglich"},
		{"de", "daily", "am Tag", "am Tag"},
		{"de", "mine", "", "mine"},
		{"xx", "hour", "", "per hour"},
		{"de", "reason", "", "reason"}, // a text of another kind
	} {
		if got := Chat(test.language).LimitTitle(test.name, test.title); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

// Each text for chats is used by the code.
func TestTexts_Used(t *testing.T) {
	var code strings.Builder
	for _, folder := range []string{".", "../chat", "../control"} {
		names, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil || len(names) == 0 {
			t.Fatal(folder, err)
		}
		for _, name := range names {
			content, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			code.Write(content)
		}
	}
	content, err := fs.ReadFile(static.Files, "text/en/chat.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(content, &all); err != nil {
		t.Fatal(err)
	}
	for name := range all {
		name, _, _ := strings.Cut(name, "_")
		if !strings.Contains(code.String(), `"`+name+`"`) {
			t.Errorf("%q isn't used", name)
		}
	}
}

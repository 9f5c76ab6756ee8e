package checkclient_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/checkclient"
)

// A role or kind that chatguard doesn't know is logged once, and changes no verdict.
func TestClient_LogsUnknownNames(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"channel":"lobby","user_id":"7","allowed":true,"unknown_roles":["staff"],"unknown_kinds":["gift"],"unknown_timezone":"Europe/Berln"}`)
	}))
	defer s.Close()
	var log bytes.Buffer
	c := newClient(t, s.URL, &checkclient.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for range 3 {
		m := chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "7", Roles: chatguard.Roles{"staff"}, Timezone: "Europe/Berln"}, Kinds: []string{"gift"}}
		if v, err := c.Check(t.Context(), m); err != nil || !v.Allowed {
			t.Fatalf("%v, %v", v, err)
		}
	}
	if text := log.String(); strings.Count(text, "\n") != 3 || !strings.Contains(text, "timezone=Europe/Berln") || !strings.Contains(text, "role=staff") || !strings.Contains(text, "kind=gift") {
		t.Errorf("logged:\n%s", text)
	}
}

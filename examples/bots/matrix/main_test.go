package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/examples/bots/scenes"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// homeserver stands for a Matrix homeserver with one room.
type homeserver struct {
	*testing.T
	messages chan []scenes.Message
	position string // as the bot has saved it
	removed  chan int
}

type object = map[string]any

func (f *homeserver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/_matrix/client/v3")
	answer := object{}
	switch {
	case strings.HasSuffix(path, "/filter"):
		answer["filter_id"] = "1"
	case strings.HasSuffix(path, "/account_data/"+position) && r.Method == http.MethodPut:
		body, _ := io.ReadAll(r.Body)
		f.position = string(body)
	case strings.HasSuffix(path, "/account_data/"+position):
		if f.position == "" {
			w.WriteHeader(http.StatusNotFound)
			answer["errcode"] = "M_NOT_FOUND"
			break
		}
		fmt.Fprint(w, f.position)
		return
	case path == "/sync":
		answer = f.sync(r)
	case path == "/rooms/!7:example.org/state":
		fmt.Fprintf(w, `[{"type": "m.room.power_levels", "state_key": "", "content": {"users": {"@%d:example.org": 50}}}]`, scenes.Moderator)
		return
	case strings.HasPrefix(path, "/rooms/!7:example.org/redact/$"):
		var message int
		_, _ = fmt.Sscanf(path, "/rooms/!7:example.org/redact/$%d/", &message)
		f.removed <- message
		answer["event_id"] = "$removal"
	default:
		f.Errorf("the bot asks for %s %s", r.Method, path)
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// sync answers a bot's first request with nothing, and others when there are messages.
func (f *homeserver) sync(r *http.Request) object {
	answer := object{"next_batch": "position"}
	if r.FormValue("since") == "" {
		return answer
	}
	select {
	case list := <-f.messages:
		var events []object
		for _, m := range list {
			events = append(events, object{
				"type": "m.room.message", "event_id": fmt.Sprintf("$%d", m.ID), "sender": fmt.Sprintf("@%d:example.org", m.User),
				"origin_server_ts": m.SentAt.UnixMilli(), "content": object{"msgtype": "m.text", "body": "hello"},
			})
		}
		answer["rooms"] = object{"join": object{"!7:example.org": object{"timeline": object{"events": events}}}}
	case <-r.Context().Done():
	}
	return answer
}

func TestBot(t *testing.T) {
	f := &homeserver{T: t, messages: make(chan []scenes.Message), removed: make(chan int)}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	db := filepath.Join(t.TempDir(), "matrix.db")
	start := func(t *testing.T, opts *chatguard.Options) func() {
		client, err := mautrix.NewClient(server.URL, "@bot:example.org", "token")
		if err != nil {
			t.Fatal(err)
		}
		client.Client = server.Client()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- run(ctx, client, db, opts) }()
		return func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	deliver := func(_ *testing.T, list []scenes.Message) { f.messages <- list }
	scenes.Run(t, scenes.Platform{Start: start, Deliver: deliver, Acted: f.removed})
}

func TestSentAt(t *testing.T) {
	now := time.Date(2026, 11, 27, 20, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		sender     id.UserID
		said, want time.Time
	}{
		{"@anna:example.org", now.Add(-time.Hour), now.Add(-time.Hour)},
		{"@eve:example.com", now.Add(-time.Minute), now.Add(-time.Minute)},
		{"@eve:example.com", now.Add(-time.Hour), now.Add(-10 * time.Minute)},
		{"@eve:example.com", time.UnixMilli(-1), now.Add(-10 * time.Minute)},
		{"@eve:example.com", now.Add(time.Hour), now},
	} {
		if got := sentAt(&event.Event{Sender: c.sender, Timestamp: c.said.UnixMilli()}, "example.org", now); !got.Equal(c.want) {
			t.Errorf("%s at %s counts at %s, want %s", c.sender, c.said, got, c.want)
		}
	}
}

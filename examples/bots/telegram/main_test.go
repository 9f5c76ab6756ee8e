package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"path/filepath"
	"strconv"
	"testing"

	"go.uber.org/goleak"
	tele "gopkg.in/telebot.v4"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/examples/bots/scenes"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// telegram stands for Telegram's API: a group whose new messages the bot asks for.
type telegram struct {
	*testing.T
	updates chan []scenes.Message
	cut     chan bool
	stopped chan bool // closed when the bot stops
	deleted chan int
}

func (f *telegram) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body map[string]string
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		f.Error(err)
	}
	result := "true"
	switch method := path.Base(r.URL.Path); method {
	case "getMe":
		result = `{"id": 99, "is_bot": true}`
	case "getChatAdministrators":
		result = fmt.Sprintf(`[{"user": {"id": %d}, "status": "administrator"}]`, scenes.Moderator)
	case "deleteMessage":
		id, err := strconv.Atoi(body["message_id"])
		if err != nil || body["chat_id"] != "-7" {
			f.Errorf("the bot deletes %v", body)
		}
		f.deleted <- id
	case "getUpdates":
		select {
		case list := <-f.updates:
			result = updates(list)
		case <-f.cut:
			panic(http.ErrAbortHandler) // closes the connection
		case <-f.stopped:
			result = "[]"
		case <-r.Context().Done():
		}
	default:
		f.Errorf("the bot calls %s", method)
	}
	fmt.Fprintf(w, `{"ok": true, "result": %s}`, result)
}

func updates(list []scenes.Message) string {
	type object = map[string]any
	var batch []object
	for _, m := range list {
		batch = append(batch, object{"update_id": m.ID, "message": object{
			"message_id": m.ID, "date": m.SentAt.Unix(), "text": "hello",
			"from": object{"id": m.User}, "chat": object{"id": -7, "type": "supergroup"},
		}})
	}
	text, _ := json.Marshal(batch)
	return string(text)
}

func TestBot(t *testing.T) {
	f := &telegram{T: t, updates: make(chan []scenes.Message), cut: make(chan bool), deleted: make(chan int)}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	db := filepath.Join(t.TempDir(), "telegram.db")
	start := func(t *testing.T, opts *chatguard.Options) func() {
		f.stopped = make(chan bool)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			done <- run(ctx, tele.Settings{URL: server.URL, Token: "token", Client: server.Client()}, db, opts)
		}()
		return func() {
			cancel()
			close(f.stopped)
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	deliver := func(_ *testing.T, list []scenes.Message) { f.updates <- list }
	scenes.Run(t, scenes.Platform{Start: start, Deliver: deliver, Cut: func() { f.cut <- true }, Acted: f.deleted})
}

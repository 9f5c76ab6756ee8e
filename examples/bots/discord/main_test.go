package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/examples/bots/scenes"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// discord stands for Discord: a gateway and an API with server 6, whose only channel is 7. Members
// with role 8 may delete messages.
type discord struct {
	*testing.T
	url      string
	messages chan []scenes.Message
	cut      chan bool
	timeouts chan string
	deleted  chan int
}

func (f *discord) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/api/v"+discordgo.APIVersion)
	switch {
	case path == "/gateway":
		fmt.Fprintf(w, `{"url": "ws%s/socket"}`, strings.TrimPrefix(f.url, "http"))
	case path == "/socket/":
		f.gateway(w, r)
	case r.Method == http.MethodPatch && strings.HasPrefix(path, "/guilds/6/members/"):
		f.timeouts <- strings.TrimPrefix(path, "/guilds/6/members/")
		fmt.Fprint(w, "{}")
	case r.Method == http.MethodDelete && strings.HasPrefix(path, "/channels/7/messages/"):
		id, _ := strconv.Atoi(strings.TrimPrefix(path, "/channels/7/messages/"))
		f.deleted <- id
		w.WriteHeader(http.StatusNoContent)
	default:
		f.Errorf("the bot asks for %s %s", r.Method, path)
	}
}

type object = map[string]any

// gateway sends events until the connection ends.
func (f *discord) gateway(w http.ResponseWriter, r *http.Request) {
	conn, err := new(websocket.Upgrader).Upgrade(w, r, nil)
	if err != nil {
		f.Error(err)
		return
	}
	defer conn.Close()
	closed := make(chan bool)
	event := 0
	send := func(kind string, data object) {
		event++
		_ = conn.WriteJSON(object{"op": 0, "s": event, "t": kind, "d": data})
	}
	_ = conn.WriteJSON(object{"op": 10, "d": object{"heartbeat_interval": time.Hour.Milliseconds()}})
	var first struct{ Op int }
	if err = conn.ReadJSON(&first); err == nil && first.Op == 6 {
		send("RESUMED", object{}) // what the bot has missed follows
	} else {
		send("READY", object{"session_id": "1", "user": object{"id": "99"}})
		send("GUILD_CREATE", object{
			"id": "6", "roles": []object{{"id": "8", "permissions": strconv.Itoa(discordgo.PermissionManageMessages)}},
			"channels": []object{{"id": "7", "guild_id": "6"}},
		})
	}
	go func() {
		defer close(closed)
		for err == nil {
			_, _, err = conn.ReadMessage()
		}
	}()
	for {
		select {
		case list := <-f.messages:
			for _, m := range list {
				send("MESSAGE_CREATE", message(m))
			}
		case <-f.cut: // without a farewell
			return
		case <-closed:
			return
		}
	}
}

func message(m scenes.Message) object {
	roles := []string{}
	if m.User == scenes.Moderator {
		roles = append(roles, "8")
	}
	return object{
		"id": strconv.Itoa(m.ID), "guild_id": "6", "channel_id": "7", "timestamp": m.SentAt,
		"author": object{"id": strconv.Itoa(m.User)}, "member": object{"roles": roles},
	}
}

func TestBot(t *testing.T) {
	f := &discord{T: t, messages: make(chan []scenes.Message), cut: make(chan bool), timeouts: make(chan string, 10), deleted: make(chan int)}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.url = server.URL
	db := filepath.Join(t.TempDir(), "discord.db")
	start := func(t *testing.T, opts *chatguard.Options) func() {
		session, err := discordgo.New("Bot token")
		if err != nil {
			t.Fatal(err)
		}
		session.Client = &http.Client{Transport: transport{server}}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- run(ctx, session, db, opts) }()
		return func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	deliver := func(_ *testing.T, list []scenes.Message) { f.messages <- list }
	scenes.Run(t, scenes.Platform{Start: start, Deliver: deliver, Cut: func() { f.cut <- true }, Acted: f.deleted})
	for _, want := range []string{"2", "4", "4", "4", "2"} { // Anna, Eve three times, Anna
		if got := <-f.timeouts; got != want {
			t.Errorf("the bot times out %s, want %s", got, want)
		}
	}
}

// transport sends requests to the server instead of Discord.
type transport struct{ server *httptest.Server }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = "http", t.server.Listener.Addr().String()
	return t.server.Client().Transport.RoundTrip(r)
}

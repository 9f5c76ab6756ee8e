package main

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts the server on loopback.
func serve(t *testing.T) *chat {
	t.Helper()
	c, err := start(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.server.Shutdown()
		c.server.WaitForShutdown()
	})
	return c
}

func dial(t *testing.T, c *chat, token string) (*nats.Conn, error) {
	t.Helper()
	options := []nats.Option{nats.Token(token), nats.NoReconnect()}
	if user, known := accounts[token]; known {
		options = append(options, nats.CustomInboxPrefix(inbox(user.ID)))
	}
	conn, err := nats.Connect(c.server.ClientURL(), options...)
	if err == nil {
		t.Cleanup(conn.Close)
	}
	return conn, err
}

func TestChat_Messages(t *testing.T) {
	c := serve(t)
	anna, err := dial(t, c, "anna's token")
	if err != nil {
		t.Fatal(err)
	}
	lobby, err := anna.SubscribeSync("room.lobby")
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"1", "2", "3", "4"} {
		answer, err := anna.Request("say.lobby.anna", []byte(text), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		var verdict struct {
			Allowed      bool  `json:"allowed"`
			RetryAfterMS int64 `json:"retry_after_ms"`
		}
		if err := json.Unmarshal(answer.Data, &verdict); err != nil || verdict.Allowed != (i < 3) || verdict.Allowed != (verdict.RetryAfterMS == 0) {
			t.Errorf("%s: %s", text, answer.Data)
		}
		if !verdict.Allowed {
			continue
		}
		if m, err := lobby.NextMsg(time.Minute); err != nil || string(m.Data) != text {
			t.Errorf("the lobby hears %v, %v", m, err)
		}
	}
	if n, _, err := lobby.Pending(); n > 0 || err != nil {
		t.Errorf("the lobby hears %d more, %v", n, err)
	}
	if err := anna.Publish("say.lobby.eve", []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if err := anna.Flush(); err != nil || !errors.Is(anna.LastError(), nats.ErrPermissionViolation) {
		t.Errorf("anna speaks for eve: %v, %v", err, anna.LastError())
	}
}

// The server's answer never goes where the user may not publish.
func TestChat_ForgedReplies(t *testing.T) {
	c := serve(t)
	anna, err := dial(t, c, "anna's token")
	if err != nil {
		t.Fatal(err)
	}
	lobby, err := anna.SubscribeSync("room.lobby")
	if err != nil {
		t.Fatal(err)
	}
	for _, reply := range []string{"room.lobby", "say.lobby.eve", inbox("eve") + ".1"} {
		if err := anna.PublishRequest("say.lobby.anna", reply, []byte("forged")); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{"1", "2", "3"} { // nothing is spent by the others
		if _, err := anna.Request("say.lobby.anna", []byte(text), time.Minute); err != nil {
			t.Fatal(err)
		}
		if m, err := lobby.NextMsg(time.Minute); err != nil || string(m.Data) != text {
			t.Errorf("the lobby hears %v, %v", m, err)
		}
	}
}

func TestChat_Connections(t *testing.T) {
	c := serve(t)
	first, err := dial(t, c, "anna's token")
	if err != nil {
		t.Fatal(err)
	}
	for token, refused := range map[string]bool{"anna's token": false, "eve's token": false, "wrong token": true} {
		if _, err := dial(t, c, token); refused != errors.Is(err, nats.ErrAuthorization) {
			t.Errorf("%s: %v", token, err)
		}
	}
	if _, err := dial(t, c, "anna's token"); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("a third connection of anna's: %v", err)
	}
	id, err := first.GetClientID()
	if err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	session := c.sessions[id]
	c.mu.Unlock()
	first.Close()
	<-session.Done()
	if _, err := dial(t, c, "anna's token"); err != nil {
		t.Errorf("after one is closed: %v", err)
	}
}

package checkclient_test

import (
	"cmp"
	"log/slog"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/checkclient"
)

// must fails the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestMain fails the tests if one of them left a goroutine.
func TestMain(m *testing.M) {
	code := m.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		println(err.Error())
		code = 1
	}
	os.Exit(code)
}

// serve runs a server until the test ends, and returns a Client of it.
func serve(t *testing.T, limits ...chatguard.Limit) (*server, *checkclient.Client) {
	t.Helper()
	s, err := start(limits...)
	must(t, err)
	t.Cleanup(s.Close)
	return s, newClient(t, s.URL, nil)
}

// newClient returns a Client that logs to the test, and has patience with real servers, unless opts
// says otherwise.
func newClient(t *testing.T, url string, opts *checkclient.Options) *checkclient.Client {
	t.Helper()
	own := *cmp.Or(opts, &checkclient.Options{})
	if own.Transport == nil { // a real server
		own.Timeout = cmp.Or(own.Timeout, patience)
	}
	if own.Logger == nil {
		own.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	c, err := checkclient.New(url, token, &own)
	must(t, err)
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// from returns a message of a user in the lobby.
func from(user string) chatguard.Message {
	return chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: user}}
}

// burst allows 3 messages, and one more every 10 minutes.
var burst = chatguard.TokenBucketLimit("burst", 3, 10*time.Minute)

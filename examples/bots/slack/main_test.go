package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slack-go/slack"
	"go.uber.org/goleak"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/examples/bots/scenes"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// platform stands for Slack: an API, and a client of the bot.
type platform struct {
	*testing.T
	client *http.Client
	bot    string       // its address
	last   atomic.Int64 // message that the bot has received
	acted  chan int
}

func (f *platform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/users.list":
		fmt.Fprintf(w, `{"ok": true, "members": [{"id": "U%d", "is_admin": true}]}`, scenes.Moderator)
	case "/chat.postEphemeral":
		if text := r.FormValue("text"); r.FormValue("channel") != "C7" || text != "You write too fast. Please wait 4 s." {
			f.Errorf("the bot answers %q", text)
		}
		f.acted <- int(f.last.Load())
		fmt.Fprint(w, `{"ok": true}`)
	default:
		f.Errorf("the bot calls %s", r.URL.Path)
	}
}

const secret = "a secret"

// post sends an event with Slack's signature, or a wrong one, and returns the answer.
func (f *platform) post(t *testing.T, event any, header http.Header, secret string) (int, string) {
	t.Helper()
	body, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.bot, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name := range header {
		r.Header.Set(name, header.Get(name))
	}
	now := strconv.FormatInt(time.Now().Unix(), 10)
	hash := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(hash, "v0:%s:%s", now, body)
	r.Header.Set("X-Slack-Request-Timestamp", now)
	r.Header.Set("X-Slack-Signature", "v0="+hex.EncodeToString(hash.Sum(nil)))
	answer, err := f.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

type object = map[string]any

// deliver sends messages one by one. The header says why Slack repeats them.
func (f *platform) deliver(t *testing.T, list []scenes.Message, header http.Header) {
	for _, m := range list {
		f.last.Store(int64(m.ID))
		status, text := f.post(t, object{"type": "event_callback", "event": object{
			"type": "message", "channel": "C7", "user": "U" + strconv.Itoa(m.User),
			"text": "hello", "ts": fmt.Sprintf("%d.%06d", m.SentAt.Unix(), m.ID),
		}}, header, secret)
		if status != http.StatusOK {
			t.Fatalf("message %d: %d %s", m.ID, status, text)
		}
	}
}

func setUp(t *testing.T) (f *platform, start func(*testing.T, *chatguard.Options) (stop func())) {
	f = &platform{T: t, acted: make(chan int, 10)}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.client = server.Client()
	db := filepath.Join(t.TempDir(), "slack.db")
	start = func(t *testing.T, opts *chatguard.Options) func() {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		f.bot = "http://" + listener.Addr().String()
		client := slack.New("token", slack.OptionAPIURL(server.URL+"/"), slack.OptionHTTPClient(server.Client()))
		b := bot{client: client, secret: secret}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- b.run(ctx, listener, db, opts) }()
		return func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	return f, start
}

func TestBot(t *testing.T) {
	f, start := setUp(t)
	deliver := func(t *testing.T, list []scenes.Message) { f.deliver(t, list, nil) }
	scenes.Run(t, scenes.Platform{Start: start, Deliver: deliver, Acted: f.acted})
}

func TestBot_Events(t *testing.T) {
	f, start := setUp(t)
	defer start(t, nil)()
	test := object{"type": "url_verification", "challenge": "abc"}
	if status, text := f.post(t, test, nil, secret); status != http.StatusOK || text != "abc" {
		t.Errorf("a test of the address: %d %s", status, text)
	}
	if status, text := f.post(t, test, nil, "another secret"); status != http.StatusUnauthorized {
		t.Errorf("a wrong signature: %d %s", status, text)
	}
	message := []scenes.Message{{ID: 1, User: 2, SentAt: time.Now()}}
	for range 4 {
		f.deliver(t, message, http.Header{"X-Slack-Retry-Reason": {"http_timeout"}})
	}
	if len(f.acted) > 0 {
		t.Error("the bot counts a repeated message again")
	}
}

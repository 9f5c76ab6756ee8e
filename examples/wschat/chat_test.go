package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
	"github.com/chatguard/chatguard/httpguard"
	"github.com/chatguard/chatguard/internal/waittest"
)

// patience is how long a test waits for something before it fails and says what it was waiting for.
const patience = 30 * time.Second

// members returns the number of members in all rooms.
func (c *chat) members() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, room := range c.rooms {
		n += len(room)
	}
	return n
}

// longestOutbox returns the largest number of frames queued for one member.
func (c *chat) longestOutbox() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, room := range c.rooms {
		for m := range room {
			n = max(n, len(m.outbox))
		}
	}
	return n
}

// served is a chat on loopback.
type served struct {
	*chat
	address string
	stop    func() // as on SIGTERM; waits for all visits
}

// openChat starts a chat with these options, which may omit Channel.
func openChat(t *testing.T, p chatguard.Policy, limits connguard.Options, also ...func(*http.ServeMux, func(http.Handler) http.Handler)) *served {
	t.Helper()
	guard, err := chatguard.New(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	door, err := connguard.New(guard, &limits)
	if err != nil {
		t.Fatal(err)
	}
	in, err := httpguard.Sessions(door, identify, &httpguard.SessionOptions{Channel: func(r *http.Request) string { return r.FormValue("room") }})
	if err != nil {
		t.Fatal(err)
	}
	s := &served{chat: &chat{}}
	mux := http.NewServeMux()
	mux.Handle("/chat", in(s.chat))
	for _, add := range also {
		add(mux, in)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = listener.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	server := &http.Server{Handler: mux, BaseContext: func(net.Listener) context.Context { return ctx }}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	s.stop = sync.OnceFunc(func() {
		cancel()
		if err := server.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		s.visits.Wait()
	})
	t.Cleanup(s.stop)
	return s
}

// slowPolicy returns the program's policy with a burst that takes hours to refill, so that what a
// test spends stays spent.
func slowPolicy() chatguard.Policy {
	p := chatguard.DefaultPolicy()
	p.Limits[0].Refill = 4 * time.Hour
	return p
}

// visitor is a test client.
type visitor struct {
	*testing.T
	*websocket.Conn
}

func (s *served) visit(t *testing.T, name, room string) *visitor {
	t.Helper()
	return visitTo(t, s.address, "chat", name, room)
}

func visitTo(t *testing.T, address, path, name, room string) *visitor {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), addressOf(address, path, name, room), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	return &visitor{t, conn}
}

func addressOf(address, path, name, room string) string {
	return fmt.Sprintf("ws://%s/%s?%s", address, path, url.Values{"name": {name}, "room": {room}}.Encode())
}

func (v *visitor) say(text string) {
	v.Helper()
	if err := v.Write(v.Context(), websocket.MessageText, []byte(text)); err != nil {
		v.Fatal(err)
	}
}

func (v *visitor) hear() (f frame) {
	v.Helper()
	ctx, cancel := context.WithTimeout(v.Context(), patience)
	defer cancel()
	_, data, err := v.Read(ctx)
	if err != nil {
		v.Fatal(err)
	}
	var heard struct {
		From, Text string
		Priority   chatguard.Priority
		Verdict    *struct {
			Allowed      bool
			Limit        string
			RetryAfterMS int64 `json:"retry_after_ms"`
			DelayMS      int64 `json:"delay_ms"`
		}
	}
	if err := json.Unmarshal(data, &heard); err != nil {
		v.Fatal(err)
	}
	f = frame{From: heard.From, Text: heard.Text, Priority: heard.Priority}
	if told := heard.Verdict; told != nil {
		f.Verdict = &chatguard.Verdict{
			Allowed: told.Allowed, Limit: told.Limit,
			RetryAfter: time.Duration(told.RetryAfterMS) * time.Millisecond, Delay: time.Duration(told.DelayMS) * time.Millisecond,
		}
	}
	return f
}

// wantLines fails unless the next frames are these lines, "name: text".
func (v *visitor) wantLines(lines ...string) {
	v.Helper()
	for _, want := range lines {
		if f := v.hear(); f.Verdict != nil || f.From+": "+f.Text != want {
			v.Fatalf("heard %+v, want %s", f, want)
		}
	}
}

func TestRoom_DeliversMessages(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	s := openChat(t, chatguard.DefaultPolicy(), connguard.Options{})
	defer s.stop()
	anna, ben, carl := s.visit(t, "Anna", "main"), s.visit(t, "Ben", "main"), s.visit(t, "Carl", "music")
	waittest.Until(t, func() bool { return s.members() == 3 })
	anna.say("hello")
	anna.wantLines("Anna: hello")
	ben.wantLines("Anna: hello")
	carl.say("nobody here?")
	carl.wantLines("Carl: nobody here?")
	for _, v := range []*visitor{anna, ben, carl} {
		if err := v.Close(websocket.StatusNormalClosure, ""); err != nil {
			t.Error(err)
		}
	}
}

func TestChat_ThrottledAuthorIsNotified(t *testing.T) {
	s := openChat(t, slowPolicy(), connguard.Options{})
	anna, ben := s.visit(t, "Anna", "main"), s.visit(t, "Ben", "main")
	waittest.Until(t, func() bool { return s.members() == 2 })
	for _, text := range []string{"1", "2", "3", "4"} {
		anna.say(text)
	}
	anna.wantLines("Anna: 1", "Anna: 2", "Anna: 3")
	f := anna.hear()
	if v := f.Verdict; v == nil || v.Allowed || v.Limit != "burst" || v.RetryAfter <= 0 || v.RetryAfter > 4*time.Hour || f.Text != "4" {
		t.Errorf("heard %+v", f)
	}
	ben.say("quiet, please")
	ben.wantLines("Anna: 1", "Anna: 2", "Anna: 3", "Ben: quiet, please") // and not 4
}

// slowCascade returns the program's policy of two buckets, both of which take hours to refill.
func slowCascade() chatguard.Policy {
	p := cascadePolicy()
	p.Limits[0].Refill, p.Limits[0].ExtraRefill = 4*time.Hour, 20*time.Hour
	return p
}

func TestCascade_MarksLowPriority(t *testing.T) {
	s := openChat(t, slowCascade(), connguard.Options{})
	anna, ben := s.visit(t, "Anna", "main"), s.visit(t, "Ben", "main")
	waittest.Until(t, func() bool { return s.members() == 2 })
	for n := range 6 {
		anna.say(fmt.Sprint(n + 1))
	}
	for _, v := range []*visitor{anna, ben} {
		for n, priority := range []chatguard.Priority{"", "", "", chatguard.PriorityLow, chatguard.PriorityLow} {
			if f, want := v.hear(), (frame{From: "Anna", Text: fmt.Sprint(n + 1), Priority: priority}); f != want {
				t.Errorf("heard %+v, want %+v", f, want)
			}
		}
	}
	if f := anna.hear(); f.Verdict == nil || f.Verdict.Allowed || f.Verdict.Limit != "burst" || f.Text != "6" {
		t.Errorf("heard %+v", f)
	}
	ben.say("quiet, please")
	ben.wantLines("Ben: quiet, please") // and not 6
}

// leakyPolicy returns a policy that releases one message per interval.
func leakyPolicy(every time.Duration) chatguard.Policy {
	return chatguard.Policy{Mode: chatguard.ModeEnforce, Limits: []chatguard.Limit{
		{Name: "pace", Algorithm: chatguard.LeakyBucket, Every: every, Queue: 2},
	}}
}

func TestHold_DeliversInTurn(t *testing.T) {
	s := openChat(t, leakyPolicy(20*time.Millisecond), connguard.Options{})
	anna, ben := s.visit(t, "Anna", "main"), s.visit(t, "Ben", "main")
	waittest.Until(t, func() bool { return s.members() == 2 })
	anna.say("1")
	anna.say("2")
	ben.wantLines("Anna: 1", "Anna: 2")
	anna.wantLines("Anna: 1")
	if f := anna.hear(); f.Verdict != nil && (!f.Verdict.Allowed || f.Verdict.Delay <= 0) || f.Text != "2" {
		t.Errorf("heard %+v", f)
	}
}

func TestHold_DroppedOnLeave(t *testing.T) {
	s := openChat(t, leakyPolicy(time.Hour), connguard.Options{})
	anna := s.visit(t, "Anna", "main")
	anna.say("1")
	anna.say("2")
	anna.wantLines("Anna: 1")
	if f := anna.hear(); f.Verdict == nil || !f.Verdict.Allowed || f.Verdict.Delay <= 0 {
		t.Fatalf("heard %+v", f)
	}
	anna.CloseNow()
	s.visits.Wait() // and doesn't wait an hour
	if n := s.members(); n != 0 {
		t.Errorf("%d members have stayed", n)
	}
}

func TestChat_SlowReaderDelaysNobody(t *testing.T) {
	s := openChat(t, chatguard.Policy{}, connguard.Options{})
	anna, ben, _ := s.visit(t, "Anna", "main"), s.visit(t, "Ben", "main"), s.visit(t, "Slow", "main")
	waittest.Until(t, func() bool { return s.members() == 3 })
	text := strings.Repeat("x", mostText)
	for n := 0; s.members() == 3; n++ {
		if n == 1<<16 { // 128 MiB: more than any socket buffers
			t.Fatal("who doesn't read is never dropped")
		}
		anna.say(text)
		anna.wantLines("Anna: " + text)
		ben.wantLines("Anna: " + text)
	}
}

func TestChat_PanicAffectsOneVisitor(t *testing.T) {
	panics := func(mux *http.ServeMux, in func(http.Handler) http.Handler) {
		mux.Handle("/panics", in(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			conn, err := websocket.Accept(w, r, nil)
			if err != nil {
				t.Error(err)
				return
			}
			_, _, _ = conn.Read(r.Context())
			panic(http.ErrAbortHandler)
		})))
	}
	s := openChat(t, chatguard.DefaultPolicy(), connguard.Options{MaxConnections: 1}, panics)
	ben := s.visit(t, "Ben", "main")
	for range 2 {
		var anna *visitor
		waittest.Until(t, func() bool {
			conn, _, err := websocket.Dial(t.Context(), addressOf(s.address, "panics", "Anna", "main"), nil)
			if err != nil {
				return false
			}
			t.Cleanup(func() { _ = conn.CloseNow() })
			anna = &visitor{t, conn}
			return true
		})
		anna.say("boo")
		if _, _, err := anna.Read(t.Context()); err == nil {
			t.Fatal("an answer after a panic")
		}
	}
	ben.say("still here")
	ben.wantLines("Ben: still here")
}

func TestServer_RefusesUnknownUser(t *testing.T) {
	s := openChat(t, chatguard.DefaultPolicy(), connguard.Options{})
	for _, name := range []string{"", "  ", "a\x00b", strings.Repeat("x", 33)} {
		response, err := http.Get("http://" + s.address + "/chat?name=" + url.QueryEscape(name))
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusUnauthorized {
			t.Errorf("%q is answered with %s", name, response.Status)
		}
	}
	if !slices.Contains(rooms, "main") {
		t.Error("the page's room is none")
	}
}

// TestServer_GoodbyeAfterFrame stops the server while it writes to a member that doesn't read.
func TestServer_GoodbyeAfterFrame(t *testing.T) {
	s := openChat(t, chatguard.Policy{}, connguard.Options{})
	anna, slow := s.visit(t, "Anna", "main"), s.visit(t, "Slow", "main")
	waittest.Until(t, func() bool { return s.members() == 2 })
	text := strings.Repeat("x", mostText)
	for s.longestOutbox() < outbox/4 {
		anna.say(text)
		anna.wantLines("Anna: " + text)
	}
	stopped := make(chan struct{})
	go func() { s.stop(); close(stopped) }()
	for _, v := range []*visitor{anna, slow} { // the slow one reads once Anna has heard the goodbye
		var err error
		for err == nil {
			_, _, err = v.Read(t.Context())
		}
		if websocket.CloseStatus(err) != websocket.StatusGoingAway {
			t.Errorf("the end was %v", err)
		}
	}
	<-stopped
}

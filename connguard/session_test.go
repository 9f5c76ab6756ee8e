package connguard

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

func mustAdmit(t testing.TB, door *Door, user chatguard.User) *Session {
	t.Helper()
	session, err := door.Admit(t.Context(), user, here, "lobby")
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// Whatever a message claims, it is the session's user who pays, now.
func TestSession_Check(t *testing.T) {
	vip := chatguard.User{ID: "7", Login: "anna", Roles: chatguard.Roles{"vip"}}
	door := newDoor(t, nil)
	session := mustAdmit(t, door, vip)
	defer session.Close()
	var told []chatguard.User
	door.guard.AddObserver(func(m chatguard.Message, _ chatguard.Verdict) { told = append(told, m.User) })
	for i, step := range []struct {
		m       chatguard.Message
		channel string
		allowed bool
	}{
		{chatguard.Message{}, "lobby", true},
		{chatguard.Message{User: named("8")}, "lobby", true},
		{chatguard.Message{SentAt: time.Now().AddDate(0, 0, 1)}, "lobby", true},
		{chatguard.Message{User: chatguard.User{ID: "9", Roles: chatguard.Roles{chatguard.RoleModerator}}}, "lobby", false},
		{chatguard.Message{ChannelID: "garden"}, "garden", true},
	} {
		v, err := session.Check(t.Context(), step.m)
		if err != nil || v.Allowed != step.allowed || v.ChannelID != step.channel || v.UserID != "7" {
			t.Errorf("message %d: %+v, %v", i, v, err)
		}
		want := vip
		if len(step.m.User.Roles) > 0 {
			want.Roles = step.m.User.Roles // that the server sets for this room
		}
		if !reflect.DeepEqual(told[i], want) {
			t.Errorf("message %d is of %+v, want %+v", i, told[i], want)
		}
	}
}

// Limits on repeated text count the messages of a session that have a text.
func TestSession_RepeatedText(t *testing.T) {
	door := newDoor(t, nil)
	repeats := chatguard.SlidingLogLimit("repeats", 1, time.Hour)
	repeats.Per = chatguard.PerText
	if err := door.guard.SetPolicy(chatguard.Policy{Limits: []chatguard.Limit{repeats}}); err != nil {
		t.Fatal(err)
	}
	one, other := mustAdmit(t, door, named("7")), mustAdmit(t, door, named("8"))
	defer one.Close()
	defer other.Close()
	for _, step := range []struct {
		session *Session
		text    string
		allowed bool
	}{{one, "join my channel", true}, {other, "", true}, {one, "", true}, {other, "Join my channel", false}} {
		v, err := step.session.Check(t.Context(), chatguard.Message{Text: step.text})
		if err != nil || v.Allowed != step.allowed {
			t.Errorf("%q: %v, %v, want it allowed: %t", step.text, v, err, step.allowed)
		}
	}
}

// A session without a channel, such as one of a client in many rooms, judges messages that name
// one.
func TestSession_NoChannel(t *testing.T) {
	door := newDoor(t, nil)
	session, err := door.Admit(t.Context(), named("anna"), here, "")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if v, err := session.Check(t.Context(), chatguard.Message{ChannelID: "garden"}); err != nil || !v.Allowed || v.ChannelID != "garden" {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := session.Check(t.Context(), chatguard.Message{}); !errors.Is(err, chatguard.ErrInvalid) {
		t.Errorf("without a channel: %v", err)
	}
}

func TestSession_CheckDoesNotAllocate(t *testing.T) {
	session := mustAdmit(t, newDoor(t, nil), named("7"))
	ctx, m := t.Context(), chatguard.Message{Text: "hello"}
	if allocs := testing.AllocsPerRun(100, func() {
		if _, err := session.Check(ctx, m); err != nil {
			t.Error(err)
		}
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

type contextKey struct{}

func TestSession_Close(t *testing.T) {
	kicked := errors.New("a moderator has removed the user")
	for name, test := range map[string]struct {
		end   func(s *Session)
		cause error
		err   error // of a message that was on its way
	}{
		"closed":                {func(s *Session) { s.Close() }, context.Canceled, nil},
		"with an error":         {func(s *Session) { s.CloseWithError(kicked) }, kicked, kicked},
		"closed, then an error": {func(s *Session) { s.Close(); s.CloseWithError(kicked) }, context.Canceled, nil},
		"an error, then closed": {func(s *Session) { s.CloseWithError(kicked); s.Close() }, kicked, kicked},
	} {
		door := newDoor(t, nil)
		session, err := door.Admit(context.WithValue(t.Context(), contextKey{}, name), named("anna"), here, "lobby")
		if err != nil {
			t.Fatal(err)
		}
		if session.Context().Err() != nil || session.Context().Value(contextKey{}) != name {
			t.Errorf("%s: the context of an open session: %v", name, session.Context())
		}
		test.end(session)
		<-session.Done()
		wantEmpty(t, door)
		if cause := context.Cause(session.Context()); cause != test.cause {
			t.Errorf("%s: the cause is %v", name, cause)
		}
		if _, err := session.Check(t.Context(), chatguard.Message{}); err != test.err {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A nil session judges nothing and has ended.
func TestSession_Nil(t *testing.T) {
	var s *Session
	m := chatguard.Message{ChannelID: "lobby", User: named("7"), SentAt: time.Now()}
	if m := s.Message(m); !reflect.DeepEqual(m.User, chatguard.User{}) || !m.SentAt.IsZero() {
		t.Errorf("a message without a session: %+v", m)
	}
	if v, err := s.Check(t.Context(), m); err != ErrNoSession || v != (chatguard.Verdict{}) {
		t.Errorf("%+v, %v", v, err)
	}
	if err := s.Admit(t.Context(), chatguard.User{}, "lobby"); err != ErrNoSession {
		t.Error(err)
	}
	if !reflect.DeepEqual(s.User(), chatguard.User{}) || s.ChannelID() != "" || s.Address().IsValid() {
		t.Errorf("%+v in %q from %s", s.User(), s.ChannelID(), s.Address())
	}
	<-s.Done()
	if err := context.Cause(s.Context()); err != ErrNoSession {
		t.Errorf("the context has ended because of %v", err)
	}
	if s.NewHoldQueue(1).Add(t.Context(), chatguard.Verdict{}, nil) {
		t.Error("a throttled message is held")
	}
	if client, server := net.Pipe(); s.Wrap(client) != client {
		t.Error("a wrapped connection of no session")
	} else {
		_, _ = client.Close(), server.Close()
	}
	s.Close()
}

func TestSession_Wrap(t *testing.T) {
	door := newDoor(t, nil)
	for network, addr := range map[string]string{"tcp": "127.0.0.1:0", "unix": filepath.Join(t.TempDir(), "s")} {
		listener, err := net.Listen(network, addr)
		if err != nil {
			t.Fatal(err)
		}
		inner, err := net.Dial(network, listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		session := mustAdmit(t, door, named("anna"))
		conn := session.Wrap(inner)
		if conn.(interface{ NetConn() net.Conn }).NetConn() != inner {
			t.Errorf("%s: what is within isn't the connection", network)
		}
		if _, fast := conn.(interface{ SetNoDelay(bool) error }); fast != (network == "tcp") {
			t.Errorf("%T has the methods of a TCP connection: %v", conn, fast)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		if err := conn.Close(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("closed twice: %v", err)
		}
		<-session.Done()
		wantEmpty(t, door)
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAnswer(t *testing.T) {
	door := newDoor(t, &Options{Connects: chatguard.TokenBucketLimit("connects", 1, time.Hour), MaxConnections: 1})
	mustAdmit(t, door, named("anna"))
	_, throttled := door.Admit(t.Context(), named("anna"), here, "lobby")
	var e *chatguard.ThrottledError
	if !errors.As(throttled, &e) {
		t.Fatal(throttled)
	}
	for _, test := range []struct {
		err  error
		text string
		wait time.Duration
	}{
		{throttled, "Too many connection attempts. Try again in 60 min.", e.Verdict.RetryAfter},
		{ErrConnections, "You have too many connections open. Close one, then try again.", 5 * time.Second},
		{chatguard.ErrInvalid, "The server could not admit the connection. Try again later.", 0},
	} {
		if text, wait := Answer(test.err); text != test.text || wait != test.wait {
			t.Errorf("%v: %q, %s", test.err, text, wait)
		}
	}
}

// Messages count in the zone of the account, unless they have another one. An unknown zone refuses
// nobody, and hides no mistake.
func TestSession_Timezone(t *testing.T) {
	now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	guard, err := chatguard.New(chatguard.Policy{Limits: []chatguard.Limit{chatguard.DailyWindowLimit("daily", 9)}}, &chatguard.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	door, err := New(guard, nil)
	if err != nil {
		t.Fatal(err)
	}
	for account, hours := range map[string]time.Duration{"Asia/Tokyo": 3, "America/Lima": 17, "Europe/Berln": 12, "": 12} {
		session := mustAdmit(t, door, chatguard.User{ID: "user " + account, Timezone: account})
		if v, err := session.Check(t.Context(), chatguard.Message{}); err != nil || v.ResetAt.Sub(now) != hours*time.Hour {
			t.Errorf("%q: %+v, %v", account, v, err)
		}
		if m := session.Message(chatguard.Message{User: chatguard.User{Timezone: "UTC"}}); m.User.Timezone != "UTC" || m.User.ID != "user "+account {
			t.Errorf("%+v", m.User)
		}
		session.Close()
	}
	if _, err := door.Admit(t.Context(), chatguard.User{Timezone: "Europe/Berln"}, here, "lobby"); !errors.Is(err, chatguard.ErrInvalid) {
		t.Errorf("without an ID: %v", err)
	}
}

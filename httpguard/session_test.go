package httpguard

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
	"github.com/chatguard/chatguard/internal/inner"
)

// frame is what a client sends.
type frame struct {
	UserID, ChannelID string
	Roles             chatguard.Roles
	Cost              int
}

func TestSession_JudgesEachFrame(t *testing.T) {
	guard := newEnforcingGuard(t, func(p *chatguard.Policy) { p.Limits = p.Limits[:1] }, nil)
	middleware, err := Sessions(mustDoor(t, guard, connguard.Options{}), func(*http.Request) (chatguard.User, error) {
		return chatguard.User{ID: "7", Login: "anna", Roles: chatguard.Roles{"vip"}}, nil
	}, &SessionOptions{
		Channel: func(r *http.Request) string { return strings.TrimPrefix(r.URL.Path, "/") },
	})
	if err != nil {
		t.Fatal(err)
	}
	var told []chatguard.User
	guard.AddObserver(func(m chatguard.Message, _ chatguard.Verdict) { told = append(told, m.User) })
	server := httptest.NewServer(middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.CloseNow()
		session := SessionFrom(r.Context())
		for sent := time.Now(); ; sent = sent.AddDate(0, 0, 1) { // whatever time it claims
			var f frame
			if err := wsjson.Read(r.Context(), conn, &f); err != nil {
				return
			}
			v, err := session.Check(r.Context(), chatguard.Message{ChannelID: f.ChannelID, User: chatguard.User{ID: f.UserID, Login: "ben", Roles: f.Roles}, Cost: f.Cost, SentAt: sent})
			if v.ChannelID += " " + v.UserID; err != nil {
				v.Limit = err.Error()
			}
			if err := wsjson.Write(r.Context(), conn, map[string]any{"Of": v.ChannelID, "Allowed": v.Allowed, "Limit": v.Limit}); err != nil {
				t.Error(err)
			}
		}
	})))
	defer server.Close()
	conn, _, err := websocket.Dial(t.Context(), server.URL+"/lobby", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	type answer struct {
		Of      string
		Allowed bool
		Limit   string
	}
	for i, step := range []struct {
		frame frame
		want  answer
	}{
		{frame{}, answer{"lobby 7", true, ""}},
		{frame{UserID: "8"}, answer{"lobby 7", true, ""}}, // whatever user it claims
		{frame{UserID: "9"}, answer{"lobby 7", true, ""}},
		{frame{UserID: "10"}, answer{"lobby 7", false, "burst"}},
		{frame{ChannelID: "garden"}, answer{"garden 7", true, ""}},
		{frame{Cost: -1}, answer{" ", false, "chatguard: the cost is negative"}},
		// roles that the server sets for this room
		{frame{Roles: chatguard.Roles{chatguard.RoleModerator}}, answer{"lobby 7", true, ""}},
	} {
		if err := wsjson.Write(t.Context(), conn, step.frame); err != nil {
			t.Fatal(err)
		}
		var got answer
		if err := wsjson.Read(t.Context(), conn, &got); err != nil || got != step.want {
			t.Errorf("frame %d: %+v, %v, want %+v", i, got, err, step.want)
		}
	}
	for i, user := range told {
		want := chatguard.User{ID: "7", Login: "anna", Roles: chatguard.Roles{"vip"}}
		if i == len(told)-1 {
			want.Roles = chatguard.Roles{chatguard.RoleModerator}
		}
		if !reflect.DeepEqual(user, want) {
			t.Errorf("message %d is of %+v, want %+v", i, user, want)
		}
	}
}

func TestSession_PlainRequest(t *testing.T) {
	middleware, err := Sessions(mustDoor(t, newEnforcingGuard(t, nil, nil), connguard.Options{}), Anonymous, nil)
	if err != nil {
		t.Fatal(err)
	}
	var s *connguard.Session
	middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		s = SessionFrom(r.Context())
		if s.User().ID != connguard.AnonymousID || s.ChannelID() != MainChannel || s.Address().String() != "192.0.2.1" {
			t.Errorf("%+v in %s from %s", s.User(), s.ChannelID(), s.Address())
		}
		if SessionFrom(s.Context()) != s || s.Context().Value(http.ServerContextKey) != r.Context().Value(http.ServerContextKey) {
			t.Error("the session's context lacks the values of the request's")
		}
		if s.Context().Err() != nil {
			t.Error("the session has ended before the handler")
		}
	})).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	<-s.Done()
	if v, err := s.Check(t.Context(), chatguard.Message{}); err != nil || !v.Allowed || v.UserID != connguard.AnonymousID || v.ChannelID != MainChannel {
		t.Errorf("a message that was still on its way: %+v, %v", v, err)
	}
}

// A handler that isn't behind Sessions gets a nil session, which judges nothing and has ended.
func TestSessionFrom_None(t *testing.T) {
	if s := SessionFrom(t.Context()); s != nil {
		t.Errorf("%+v", s)
	}
}

// A verdict of a session has all it takes to describe it: the author's roles and the channel, which
// the message needn't name.
func TestSetHeaders_Session(t *testing.T) {
	for _, test := range []struct {
		name  string
		room  string
		roles chatguard.Roles
		want  [2]map[string]string // of two messages
	}{
		{"a subscriber", "lobby", chatguard.Roles{"subscriber"}, [2]map[string]string{
			{"Ratelimit-Policy": `"b";q=10;w=600`, "Ratelimit": `"b";r=9;t=60`},
			{"Ratelimit-Policy": `"b";q=10;w=600`, "Ratelimit": `"b";r=8;t=60`},
		}},
		{"a room with its own limit", "slow room", nil, [2]map[string]string{
			{"Ratelimit-Policy": `"slow";q=1;w=3600`, "Ratelimit": `"slow";r=0;t=3600`},
			{"Ratelimit-Policy": `"slow";q=1;w=3600`, "Ratelimit": `"slow";r=0;t=3600`, "Retry-After": "3600"},
		}},
	} {
		guard := newEnforcingGuard(t, func(p *chatguard.Policy) {
			p.Limits = []chatguard.Limit{{
				Name: "b", Algorithm: chatguard.TokenBucket, Burst: 3, Refill: time.Minute,
				Roles: map[chatguard.Role]chatguard.Override{"subscriber": {Burst: 10}},
			}}
		}, &chatguard.Options{Now: func() time.Time { return monday }})
		slow := guard.Policy()
		slow.Limits = []chatguard.Limit{{Name: "slow", Algorithm: chatguard.TokenBucket, Burst: 1, Refill: time.Hour}}
		if err := inner.At(guard, monday).SetChannelPolicy("slow room", slow); err != nil {
			t.Fatal(err)
		}
		session, err := mustDoor(t, guard, connguard.Options{}).Admit(t.Context(), chatguard.User{ID: "7", Roles: test.roles}, netip.Addr{}, test.room)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range test.want {
			v, err := session.Check(t.Context(), chatguard.Message{})
			if err != nil {
				t.Fatal(err)
			}
			h := http.Header{}
			SetHeaders(h, guard, v)
			for name, value := range want {
				if h.Get(name) != value {
					t.Errorf("%s, message %d: %s: %q, want %q", test.name, i, name, h.Get(name), value)
				}
			}
		}
	}
}

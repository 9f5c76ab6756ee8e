package chatguard

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
)

// frame is what a client sends.
type frame struct {
	UserID, ChannelID string
	Roles             Roles
	Cost              int
}

func TestSession_JudgesEachFrame(t *testing.T) {
	guard := newEnforcingGuard(t, func(p *Policy) { p.Limits = p.Limits[:1] }, nil)
	middleware, err := guard.Middleware(MiddlewareOptions{
		Identify: func(*http.Request) (User, error) {
			return User{ID: "7", Login: "anna", Roles: RolesOf(VIP)}, nil
		},
		Channel: func(r *http.Request) string { return strings.TrimPrefix(r.URL.Path, "/") },
	})
	if err != nil {
		t.Fatal(err)
	}
	var told []User
	guard.AddObserver(func(m Message, _ Verdict) { told = append(told, m.User) })
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
			v, err := session.Check(r.Context(), Message{ChannelID: f.ChannelID, User: User{ID: f.UserID, Login: "ben", Roles: f.Roles}, Cost: f.Cost, SentAt: sent})
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
		{frame{Cost: -1}, answer{" ", false, ErrCost.Error()}},
		// roles that the server sets for this room
		{frame{Roles: RolesOf(Moderator)}, answer{"lobby 7", true, ""}},
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
		want := User{ID: "7", Login: "anna", Roles: RolesOf(VIP)}
		if i == len(told)-1 {
			want.Roles = RolesOf(Moderator)
		}
		if user != want {
			t.Errorf("message %d is of %+v, want %+v", i, user, want)
		}
	}
}

func TestSession_PlainRequest(t *testing.T) {
	middleware, err := newEnforcingGuard(t, nil, nil).Middleware(MiddlewareOptions{Identify: Anonymous})
	if err != nil {
		t.Fatal(err)
	}
	var s *Session
	middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		s = SessionFrom(r.Context())
		if s.User().ID != AnonymousID || s.ChannelID() != MainChannel || s.Address().String() != "192.0.2.1" {
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
	if v, err := s.Check(t.Context(), Message{}); err != nil || !v.Allowed || v.UserID != AnonymousID || v.ChannelID != MainChannel {
		t.Errorf("a message that was still on its way: %+v, %v", v, err)
	}
}

func TestSession_Missing(t *testing.T) {
	s := SessionFrom(t.Context())
	if v, err := s.Check(t.Context(), messageFrom("7", 0)); s != nil || err != ErrNoSession || v != (Verdict{}) {
		t.Errorf("%+v, %v", v, err)
	}
}

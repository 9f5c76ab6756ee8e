package twitchsignin

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/chat/twitch/person"
	"github.com/chatguard/chatguard/internal/chat/twitch/token"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
	"github.com/chatguard/chatguard/internal/web/access"
)

// TestSessions_Bounded checks that the oldest sessions end: of one person, and of all.
func TestSessions_Bounded(t *testing.T) {
	testScene(t, func(t *testing.T, s *scene) {
		owner := s.signIn("tea")
		var own []string
		for range mostOwn + 3 {
			own = append(own, s.signIn("anna"))
			twitchtest.Pass(time.Second)
		}
		for i, session := range own {
			if s.holds(session) != (i >= 3) {
				t.Errorf("session %d of %d", i, len(own))
			}
		}
		if !s.holds(owner) || len(s.List()) != mostOwn+1 {
			t.Errorf("%d sessions", len(s.List()))
		}
		for n := range mostSessions {
			s.Members.add(s.opts.Channels(), s.Names(), &session{id: access.SessionID(string(rune(n))), account: person.Account{ID: string(rune(n))}, begun: time.Now(), used: time.Now(), person: s.tw.New(token.Pair{}, nil)})
		}
		if s.Members.len() != mostSessions || s.holds(owner) {
			t.Errorf("%d sessions", s.Members.len())
		}
	})
}

// TestSessions_Idle checks that a session ends that nobody uses for a week, and that any session
// ends after a month.
func TestSessions_Idle(t *testing.T) {
	testScene(t, func(t *testing.T, s *scene) {
		idle, used := s.signIn("anna"), s.signIn("anna")
		for range 29 {
			twitchtest.Pass(24 * time.Hour)
			if !s.holds(used) {
				t.Fatal("a session in use has ended")
			}
		}
		if s.holds(idle) {
			t.Error("an idle session is still there")
		}
		twitchtest.Pass(24 * time.Hour)
		if s.holds(used) || s.Members.len() != 0 {
			t.Error("a session outlasts a month")
		}
	})
}

// TestSessions_WholeSecret checks that a secret that shares only the ID with a session isn't valid.
func TestSessions_WholeSecret(t *testing.T) {
	testScene(t, func(t *testing.T, s *scene) {
		session := s.signIn("anna")
		s.Members.sessions[access.SessionID("other")] = s.Members.sessions[access.SessionID(session)]
		s.End("other")
		if s.holds("other") || !s.holds(session) {
			t.Error("the ID is enough")
		}
		delete(s.Members.sessions, access.SessionID("other"))
	})
}

func TestSessions_EndByID(t *testing.T) {
	testScene(t, func(t *testing.T, s *scene) {
		session := s.signIn("anna")
		list := s.List()
		if len(list) != 1 || list[0].ID != access.SessionID(session) || list[0].Name != "anna" || list[0].From != auth.FromTwitch || list[0].Used.IsZero() {
			t.Fatalf("%+v", list)
		}
		if s.EndByID("x") || !s.EndByID(list[0].ID) || s.EndByID(list[0].ID) || s.holds(session) {
			t.Error("not ended once")
		}
		synctest.Wait()
		if s.srv.Tokens("anna") != 0 {
			t.Error("the token is valid")
		}
	})
}

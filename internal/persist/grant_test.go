package persist

import (
	"reflect"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
)

func TestGrants_List(t *testing.T) {
	t.Parallel()
	now := start
	s := open(t, databasePath(t), &Options{Now: func() time.Time { return now }})
	token := mustNewToken(t, s.Tokens, berta, 0)
	mustNewToken(t, s.Tokens, auth.Identity{Name: "clara", Access: auth.Own}, time.Second) // expires
	now = start.Add(time.Minute)
	mustNewToken(t, s.Tokens, anna, time.Hour)
	session := mustBeginSession(t, s.Tokens, token, berta)
	now = start.Add(2 * time.Minute)
	later := mustBeginSession(t, s.Tokens, token, berta)
	code := newCode(t, s.Tokens)
	g, err := s.Tokens.Grants(ctx)
	must(t, err)
	want := auth.Grants{
		Tokens: []auth.Token{
			{Identity: anna, Made: start.Add(time.Minute), Expires: start.Add(61 * time.Minute)},
			{Identity: berta, Made: start},
		},
		Links: []auth.Link{{Identity: ada, ID: hashToken(code).id(), Made: now, Expires: now.Add(SignInTime)}},
		Sessions: []auth.Session{
			{Identity: berta, ID: hashToken(later).id(), Begun: now, Expires: now.Add(SessionTime)},
			{Identity: berta, ID: hashToken(session).id(), Begun: start.Add(time.Minute), Expires: start.Add(time.Minute + SessionTime)},
		},
	}
	if !reflect.DeepEqual(g, want) {
		t.Errorf("listed %+v, want %+v", g, want)
	}
}

// A session and a code end by their IDs, but not by those of the other kind.
func TestGrants_EndByID(t *testing.T) {
	t.Parallel()
	s := open(t, databasePath(t), nil)
	session, other, code := signIn(t, s.Tokens), signIn(t, s.Tokens), newCode(t, s.Tokens)
	sessionID, codeID := hashToken(session).id(), hashToken(code).id()
	if _, ok, err := s.Tokens.EndSessionByID(ctx, codeID); ok || err != nil {
		t.Errorf("a code ends as a session: %v, %v", ok, err)
	}
	if _, ok, err := s.Tokens.EndLink(ctx, sessionID); ok || err != nil {
		t.Errorf("a session ends as a code: %v, %v", ok, err)
	}
	for _, id := range []string{"", sessionID[:8], "' OR 1"} {
		if _, ok, err := s.Tokens.EndSessionByID(ctx, id); ok || err != nil {
			t.Errorf("%q ends a session: %v, %v", id, ok, err)
		}
	}
	if who, ok, err := s.Tokens.EndSessionByID(ctx, sessionID); !ok || err != nil || who.Name != "Ada" {
		t.Errorf("the session: %v, %v, %v", who, ok, err)
	}
	wantSession(t, s.Tokens, session, "")
	wantSession(t, s.Tokens, other, "Ada")
	if _, ok, err := s.Tokens.EndSessionByID(ctx, sessionID); ok || err != nil {
		t.Errorf("again: %v, %v", ok, err)
	}
	if who, ok, err := s.Tokens.EndLink(ctx, codeID); !ok || err != nil || who.Name != "Ada" {
		t.Errorf("the code: %v, %v, %v", who, ok, err)
	}
	wantNoCode(t, s.Tokens, code)
}

// While nothing can be written, the list has what is pending and lacks what has ended, and both stay
// so afterwards.
func TestGrants_WhileFailing(t *testing.T) {
	t.Parallel()
	var stored, pending, ended string
	testWhileFailing(t, func(t *testing.T, s *Store) {
		stored, ended = signIn(t, s.Tokens), signIn(t, s.Tokens)
	}, func(t *testing.T, s *Store) {
		pending = signIn(t, s.Tokens)
		if _, ok, err := s.Tokens.EndSessionByID(ctx, hashToken(ended).id()); !ok || err != nil {
			t.Errorf("ending a session: %v, %v", ok, err)
		}
		g, err := s.Tokens.Grants(ctx)
		must(t, err)
		if len(g.Sessions) != 2 {
			t.Errorf("listed %+v", g.Sessions)
		}
	}, func(t *testing.T, tokens *Tokens) {
		wantSession(t, tokens, stored, "Ada")
		wantSession(t, tokens, pending, "Ada")
		wantSession(t, tokens, ended, "")
		g, err := tokens.Grants(ctx)
		must(t, err)
		if len(g.Sessions) != 2 {
			t.Errorf("listed afterwards: %+v", g.Sessions)
		}
	})
}

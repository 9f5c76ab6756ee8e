package signin

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
)

func TestTokens_Lists(t *testing.T) {
	t.Parallel()
	now := start
	s := open(t, newDatabase(t), &Options{Now: func() time.Time { return now }})
	token := mustNewToken(t, s.Tokens, berta, 0)
	mustNewToken(t, s.Tokens, auth.Identity{Name: "clara", Access: auth.Own}, time.Second) // expires
	now = start.Add(time.Minute)
	mustNewToken(t, s.Tokens, anna, time.Hour)
	session := mustBeginSession(t, s.Tokens, token, berta)
	now = start.Add(2 * time.Minute)
	later := mustBeginSession(t, s.Tokens, token, berta)
	must(t, s.Tokens.EndSession(ctx, mustBeginSession(t, s.Tokens, token, berta)))
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
	holders, err := s.Tokens.Holders(ctx)
	must(t, err)
	wantHolders := []Holder{
		{ada, time.Time{}, time.Time{}, 0, 1},
		{anna, start.Add(time.Minute), start.Add(61 * time.Minute), 0, 0},
		{berta, start, time.Time{}, 2, 0},
	}
	if !reflect.DeepEqual(holders, wantHolders) {
		t.Errorf("the holders are %+v, want %+v", holders, wantHolders)
	}
	names, err := s.Tokens.Names(ctx)
	must(t, err)
	if want := []string{"Ada", "anna", "berta"}; !slices.Equal(names, want) {
		t.Errorf("names %q, want %q", names, want)
	}
}

// wantEnded returns a check for the results of ending a session or a code: it was the one of name,
// or there was none if name is empty.
func wantEnded(t *testing.T, name string) func(auth.Identity, bool, error) {
	return func(who auth.Identity, ended bool, err error) {
		t.Helper()
		if who.Name != name || ended != (name != "") || err != nil {
			t.Errorf("ended %v of %v, %v; want %q", ended, who, err, name)
		}
	}
}

// A session and a code end by their IDs, but not by those of the other kind.
func TestGrants_EndByID(t *testing.T) {
	t.Parallel()
	s := open(t, newDatabase(t), nil)
	session, other, code := signIn(t, s.Tokens), signIn(t, s.Tokens), newCode(t, s.Tokens)
	sessionID, codeID := hashToken(session).id(), hashToken(code).id()
	for _, id := range []string{codeID, "", sessionID[:8], "' OR 1"} {
		wantEnded(t, "")(s.Tokens.EndSessionByID(ctx, id))
	}
	wantEnded(t, "")(s.Tokens.EndLink(ctx, sessionID))
	wantEnded(t, "Ada")(s.Tokens.EndSessionByID(ctx, sessionID))
	wantSession(t, s.Tokens, session, "")
	wantSession(t, s.Tokens, other, "Ada")
	wantEnded(t, "")(s.Tokens.EndSessionByID(ctx, sessionID)) // again
	wantEnded(t, "Ada")(s.Tokens.EndLink(ctx, codeID))
	wantNoCode(t, s.Tokens, code)
}

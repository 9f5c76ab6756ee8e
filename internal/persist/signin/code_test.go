package signin

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
)

// ada is the person who signs in.
var ada = auth.Identity{Name: "Ada", Access: auth.Moderate, From: auth.FromLink}

// redeemAll lets 20 people redeem a code at the same time, in turns with each of the tokens, and
// returns how many succeeded.
func redeemAll(t *testing.T, code string, tokens ...*Tokens) (won int) {
	t.Helper()
	var sessions [20]string
	var redeemers sync.WaitGroup
	for i := range sessions {
		redeemers.Go(func() {
			var err error
			if sessions[i], _, err = tokens[i%len(tokens)].RedeemCode(ctx, code); err != nil && !errors.Is(err, ErrCode) {
				t.Error(err)
			}
		})
	}
	redeemers.Wait()
	for i, session := range sessions {
		if session != "" {
			wantSession(t, tokens[i%len(tokens)], session, "Ada")
			won++
		}
	}
	return won
}

func TestRedeemCode_OneSucceeds(t *testing.T) {
	t.Parallel()
	path := newDatabase(t)
	s := open(t, path, nil)
	if won := redeemAll(t, newCode(t, s.Tokens), s.Tokens, openSecond(t, path, at(start))); won != 1 {
		t.Errorf("%d won", won)
	}
}

func wantSession(t *testing.T, tokens *Tokens, session, want string) {
	t.Helper()
	who, ok, err := tokens.Session(ctx, session)
	must(t, err)
	if who.Name != want || ok != (want != "") {
		t.Errorf("session of %v, %v; want %q", who, ok, want)
	}
}

func wantSessions(t *testing.T, tokens *Tokens, sessions []string, want string) {
	t.Helper()
	for _, session := range sessions {
		wantSession(t, tokens, session, want)
	}
}

// signIn signs Ada in and returns her session.
func signIn(t *testing.T, tokens *Tokens) string {
	t.Helper()
	code, err := tokens.NewSignInCode(ctx, ada, 0)
	must(t, err)
	session, _, err := tokens.RedeemCode(ctx, code)
	must(t, err)
	return session
}

func TestEndSession_Ends(t *testing.T) {
	t.Parallel()
	path, now := newDatabase(t), start
	opts := &Options{Now: func() time.Time { return now }}
	s := open(t, path, opts)
	session := signIn(t, s.Tokens)
	wantSession(t, s.Tokens, session, "Ada")
	must(t, s.Tokens.EndSession(ctx, session))
	wantSession(t, s.Tokens, session, "")
	must(t, s.Tokens.EndSession(ctx, session))
	code := newCode(t, s.Tokens)
	must(t, s.Tokens.EndSession(ctx, code)) // it is no session
	mustRedeem(t, s.Tokens, code)

	session = signIn(t, s.Tokens)
	wantSession(t, s.Tokens, session, "Ada")
	beside := openSecond(t, path, opts.Now)
	must(t, beside.EndSession(ctx, session))
	now = now.Add(tokenWait)
	wantSession(t, s.Tokens, session, "")
}

package persist

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
)

// ada is the person who signs in.
var ada = auth.Identity{Name: "Ada", Access: auth.Moderate, From: auth.FromLink}

func printSignInCode(ctx context.Context, path string) error {
	tokens, err := OpenTokens(ctx, path, nil)
	if err != nil {
		return err
	}
	defer tokens.Close()
	code, err := tokens.NewSignInCode(ctx, ada, 0)
	fmt.Println(code)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

func TestSignIn_BesideOwner(t *testing.T) {
	t.Parallel()
	path := databasePath(t)
	s := open(t, path, &Options{})
	other := startChild(t, "signin", path)
	code := other.Next(t)
	mustRedeem(t, s.Tokens, code)
	wantNoCode(t, s.Tokens, code)
	other.Kill(t)
}

func TestRedeemCode_OneSucceeds(t *testing.T) {
	t.Parallel()
	path := databasePath(t)
	s := open(t, path, nil)
	beside, err := OpenTokens(ctx, path, &Options{Now: at(start)})
	must(t, err)
	defer beside.Close()
	code, err := s.Tokens.NewSignInCode(ctx, ada, 0)
	must(t, err)
	var won, lost atomic.Int32
	var redeemers sync.WaitGroup
	for i := range 20 {
		redeemers.Go(func() {
			tokens := []*Tokens{s.Tokens, beside}[i%2]
			switch _, _, err := tokens.RedeemCode(ctx, code); {
			case err == nil:
				won.Add(1)
			case errors.Is(err, ErrCode):
				lost.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	redeemers.Wait()
	if won.Load() != 1 || lost.Load() != 19 {
		t.Errorf("%d won, %d lost", won.Load(), lost.Load())
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
	path, now := databasePath(t), start
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
	beside, err := OpenTokens(ctx, path, opts)
	must(t, err)
	defer beside.Close()
	must(t, beside.EndSession(ctx, session))
	now = now.Add(tokenWait)
	wantSession(t, s.Tokens, session, "")
}

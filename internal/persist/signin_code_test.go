package persist

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
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
	session, who, err := s.Tokens.RedeemCode(ctx, code)
	must(t, err)
	if !reflect.DeepEqual(who, ada) {
		t.Errorf("signed in as %v", who)
	}
	wantSession(t, s.Tokens, session, "Ada")
	if _, _, err := s.Tokens.RedeemCode(ctx, code); !errors.Is(err, ErrCode) {
		t.Errorf("the second time: %v", err)
	}
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

// signIn signs Ada in and returns her session.
func signIn(t *testing.T, tokens *Tokens) string {
	t.Helper()
	code, err := tokens.NewSignInCode(ctx, ada, 0)
	must(t, err)
	session, _, err := tokens.RedeemCode(ctx, code)
	must(t, err)
	return session
}

func TestSignIn_Expires(t *testing.T) {
	t.Parallel()
	now := start
	s := open(t, databasePath(t), &Options{Now: func() time.Time { return now }})
	code, err := s.Tokens.NewSignInCode(ctx, ada, 0)
	must(t, err)
	session := signIn(t, s.Tokens)

	now = start.Add(SignInTime)
	if _, _, err := s.Tokens.RedeemCode(ctx, code); !errors.Is(err, ErrCode) {
		t.Errorf("a code after its time: %v", err)
	}
	now = start.Add(SessionTime - time.Second)
	wantSession(t, s.Tokens, session, "Ada")
	now = start.Add(SessionTime) // cached, but expired
	wantSession(t, s.Tokens, session, "")
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

	session = signIn(t, s.Tokens)
	wantSession(t, s.Tokens, session, "Ada")
	beside, err := OpenTokens(ctx, path, opts)
	must(t, err)
	defer beside.Close()
	must(t, beside.EndSession(ctx, session))
	now = now.Add(tokenWait)
	wantSession(t, s.Tokens, session, "")
}

func TestSession_CodeIsNone(t *testing.T) {
	t.Parallel()
	s := open(t, databasePath(t), nil)
	code, err := s.Tokens.NewSignInCode(ctx, ada, 0)
	must(t, err)
	wantSession(t, s.Tokens, code, "")
	must(t, s.Tokens.EndSession(ctx, code))
	if _, _, err := s.Tokens.RedeemCode(ctx, signIn(t, s.Tokens)); !errors.Is(err, ErrCode) {
		t.Errorf("a session as a code: %v", err)
	}
	_, _, err = s.Tokens.RedeemCode(ctx, code)
	must(t, err)
}

func TestTokens_NoSecretStored(t *testing.T) {
	t.Parallel()
	path := databasePath(t)
	s := open(t, path, nil)
	code, err := s.Tokens.NewSignInCode(ctx, ada, 0)
	must(t, err)
	session := signIn(t, s.Tokens)
	for _, data := range snapshot(t, path) {
		if bytes.Contains(data, []byte(code)) || bytes.Contains(data, []byte(session)) {
			t.Error("a code or session can be read from the database")
		}
	}
}

package signin

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/persist/persisttest"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/internal/turntest"
)

// tokenFailures are ways in which no token can be written.
var tokenFailures = map[string]func(t *testing.T, s *store) (repair func()){
	"locked": func(t *testing.T, s *store) func() {
		s.exec(t, "PRAGMA busy_timeout = 0")
		return persisttest.Lock(t, s.db.Path)
	},
	"disk full": func(t *testing.T, s *store) func() {
		// A token needs no new page, so a full disk isn't always noticed.
		s.exec(t, "CREATE TEMP TABLE used_up (id INTEGER PRIMARY KEY AUTOINCREMENT)")
		s.exec(t, "INSERT INTO used_up VALUES (9223372036854775807)")
		for _, change := range []string{"INSERT", "DELETE"} {
			// SQLITE_FULL
			s.exec(t, "CREATE TEMP TRIGGER full_"+change+" BEFORE "+change+" ON main.token BEGIN INSERT INTO used_up VALUES (NULL); END")
		}
		return func() { s.exec(t, "DROP TABLE used_up; DROP TRIGGER full_INSERT; DROP TRIGGER full_DELETE") }
	},
}

func newCode(t *testing.T, tokens *Tokens) string {
	t.Helper()
	code, err := tokens.NewSignInCode(ctx, ada, 0)
	must(t, err)
	return code
}

func mustRedeem(t *testing.T, tokens *Tokens, code string) (session string) {
	t.Helper()
	session, who, err := tokens.RedeemCode(ctx, code)
	must(t, err)
	if !reflect.DeepEqual(who, ada) {
		t.Errorf("signed in as %v", who)
	}
	wantSession(t, tokens, session, "Ada")
	return session
}

func wantNoCode(t *testing.T, tokens *Tokens, code string) {
	t.Helper()
	if _, _, err := tokens.RedeemCode(ctx, code); !errors.Is(err, ErrCode) {
		t.Errorf("redeeming a code that is none: %v", err)
	}
}

// While nothing can be written, nobody can sign in or out, and who is signed in stays so. The
// database works as before once it is repaired.
func TestTokens_WhileFailing(t *testing.T) {
	t.Parallel()
	for name, harm := range tokenFailures {
		t.Run(name, func(t *testing.T) {
			path, now := newDatabase(t), start
			s := open(t, path, &Options{Now: func() time.Time { return now }})
			code, session, token := newCode(t, s.Tokens), signIn(t, s.Tokens), mustNewToken(t, s.Tokens, anna, 0)
			annas := mustBeginSession(t, s.Tokens, token, anna)
			s.exec(t, "PRAGMA busy_timeout = 0")
			repair := harm(t, s)
			for what, try := range map[string]func() error{
				"a code":    func() error { _, err := s.Tokens.NewSignInCode(ctx, ada, 0); return err },
				"redeeming": func() error { _, _, err := s.Tokens.RedeemCode(ctx, code); return err },
				"a session": func() error { _, _, err := s.Tokens.BeginSession(ctx, token); return err },
				"ending":    func() error { return s.Tokens.EndSession(ctx, session) },
				"a token":   func() error { _, err := s.Tokens.NewToken(ctx, berta, 0); return err },
				"revoking":  func() error { _, err := s.Tokens.Revoke(ctx, "anna"); return err },
			} {
				if err := try(); !isFileError(err) {
					t.Errorf("%s: %v", what, err)
				}
			}
			// A session is no code, and a code is no session.
			for _, none := range []string{session, annas, "none"} {
				wantNoCode(t, s.Tokens, none)
			}
			wantSession(t, s.Tokens, code, "")
			for range 2 {
				wantSession(t, s.Tokens, session, "Ada")
				wantSession(t, s.Tokens, annas, "anna")
				wantToken(t, s.Tokens, token, anna)
				now = now.Add(time.Minute) // they aren't cached any more
			}
			repair()
			other := mustRedeem(t, s.Tokens, code)
			wantNoCode(t, s.Tokens, code)
			now = now.Add(SessionTime)
			wantSessions(t, s.Tokens, []string{session, other}, "") // cached, but expired
			during := newCode(t, s.Tokens)
			now = now.Add(SignInTime)
			wantNoCode(t, s.Tokens, during)

			during, other = newCode(t, s.Tokens), signIn(t, s.Tokens)
			for _, data := range snapshot(t, path) {
				for _, secret := range []string{during, other} {
					if bytes.Contains(data, []byte(secret)) {
						t.Error("a code or session can be read from the database")
					}
				}
			}
		})
	}
}

func TestTokens_BesideOwnerFail(t *testing.T) {
	t.Parallel()
	for name, harm := range tokenFailures {
		t.Run(name, func(t *testing.T) {
			path := newDatabase(t)
			s := open(t, path, nil)
			session, code := signIn(t, s.Tokens), newCode(t, s.Tokens)
			beside := openSecond(t, path, at(start))
			repair := harm(t, &store{beside, beside.db.(*sqlite.DB)})
			_, err := beside.NewSignInCode(ctx, ada, 0)
			wantError(t, err, "database "+path)
			_, _, err = beside.RedeemCode(ctx, code)
			wantError(t, err, "database "+path)
			wantError(t, beside.EndSession(ctx, session), "database "+path)
			wantSession(t, beside, session, "Ada")
			repair()
			mustRedeem(t, beside, code)
			must(t, beside.EndSession(ctx, session))
			wantSession(t, beside, session, "")
		})
	}
}

// TestTokens_CancelledSignIn checks that a cancelled request isn't treated as a database failure,
// and that nothing of the sign-in is kept.
func TestTokens_CancelledSignIn(t *testing.T) {
	t.Parallel()
	s := open(t, newDatabase(t), nil)
	session, code := signIn(t, s.Tokens), newCode(t, s.Tokens)
	if _, err := s.Tokens.NewSignInCode(endedContext, ada, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("a code: %v", err)
	}
	if _, _, err := s.Tokens.RedeemCode(endedContext, code); !errors.Is(err, context.Canceled) {
		t.Errorf("redeeming: %v", err)
	}
	if err := s.Tokens.EndSession(endedContext, session); !errors.Is(err, context.Canceled) {
		t.Errorf("ending: %v", err)
	}
	wantSession(t, s.Tokens, session, "Ada")
	mustRedeem(t, s.Tokens, code)
}

// A session that ends during a look-up doesn't come back.
func TestEndSession_StaysEnded(t *testing.T) {
	t.Parallel()
	turntest.Expensive(t)
	s := open(t, newDatabase(t), nil)
	for i := range 200 {
		session := signIn(t, s.Tokens)
		var asking sync.WaitGroup
		for range 4 {
			asking.Go(func() {
				if _, _, err := s.Tokens.Session(ctx, session); err != nil {
					t.Error(err)
				}
			})
		}
		must(t, s.Tokens.EndSession(ctx, session))
		asking.Wait()
		if _, ok, err := s.Tokens.Session(ctx, session); ok || err != nil {
			t.Fatalf("round %d: still there %v, %v", i, ok, err)
		}
	}
}

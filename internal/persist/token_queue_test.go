package persist

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"maps"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/turntest"
)

// tokenFailures are ways in which no token can be written.
var tokenFailures = map[string]func(t *testing.T, s *Store) (repair func()){
	"locked": failures["locked"].harm,
	"disk full": func(t *testing.T, s *Store) func() {
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

// testWhileFailing runs checks before a failure, during it, after it is fixed, and after a restart.
func testWhileFailing(t *testing.T, before, during func(t *testing.T, s *Store), after func(t *testing.T, tokens *Tokens)) {
	for name, harm := range tokenFailures {
		t.Run(name, func(t *testing.T) {
			path, now := newDatabase(t), start
			opts := &Options{Now: func() time.Time { return now }}
			s := open(t, path, opts)
			g := guardOf(t, s, policy())
			before(t, s)
			repair := harm(t, s)
			during(t, s)
			s.runTurn(ctx, g)
			if h := s.Health(); h.State != Failing {
				t.Fatalf("%+v", h)
			}
			repair()
			s.runTurn(ctx, g)
			s.wantHealth(t, OK, "")
			if n := len(s.Tokens.queue.peek()); n != 0 {
				t.Errorf("%d tokens still wait", n)
			}
			beside, err := OpenTokens(ctx, path, opts)
			must(t, err)
			after(t, beside)
			must(t, beside.Close())
			after(t, s.Tokens)
			must(t, s.Close())
			after(t, open(t, path, opts).Tokens)
		})
	}
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

// Codes sign in once, and sessions stay valid until they end, whether they were made before the
// failure or during it.
func TestUnsaved_SignIns(t *testing.T) {
	t.Parallel()
	var spare, spareSession string // a code that is used after the failure, and its session
	var codes, sessions, ended []string
	testWhileFailing(t,
		func(t *testing.T, s *Store) {
			codes, spareSession = []string{newCode(t, s.Tokens), newCode(t, s.Tokens)}, ""
			sessions, ended = []string{signIn(t, s.Tokens)}, []string{signIn(t, s.Tokens)}
			wantSessions(t, s.Tokens, append(sessions, ended...), "Ada") // they are cached
			sessions, ended = append(sessions, signIn(t, s.Tokens)), append(ended, signIn(t, s.Tokens))
		},
		func(t *testing.T, s *Store) {
			codes, spare = append(codes, newCode(t, s.Tokens), newCode(t, s.Tokens)), newCode(t, s.Tokens)
			for i, code := range codes {
				which := []*[]string{&sessions, &ended}[i%2]
				*which = append(*which, mustRedeem(t, s.Tokens, code))
				wantNoCode(t, s.Tokens, code)
			}
			ended = append(ended, "none")
			for _, session := range ended {
				must(t, s.Tokens.EndSession(ctx, session))
				wantSession(t, s.Tokens, session, "")
				must(t, s.Tokens.EndSession(ctx, session))
			}
			wantSessions(t, s.Tokens, sessions, "Ada")
		},
		func(t *testing.T, tokens *Tokens) {
			if spareSession == "" {
				spareSession = mustRedeem(t, tokens, spare)
			}
			for _, code := range append(codes, spare) {
				wantNoCode(t, tokens, code)
			}
			wantSessions(t, tokens, append(sessions, spareSession), "Ada")
			wantSessions(t, tokens, ended, "")
		})
}

// Tokens behave alike in a healthy database, in a failing one, and in one that was repaired.
func TestTokens_AnyHealth(t *testing.T) {
	t.Parallel()
	harms := maps.Clone(tokenFailures)
	harms["healthy"] = func(*testing.T, *Store) func() { return func() {} }
	for name, harm := range harms {
		t.Run(name, func(t *testing.T) {
			path, now := newDatabase(t), start
			s := open(t, path, &Options{Now: func() time.Time { return now }})
			g := guardOf(t, s, policy())
			before, session := newCode(t, s.Tokens), signIn(t, s.Tokens)
			repair := harm(t, s)
			during, other := newCode(t, s.Tokens), signIn(t, s.Tokens)

			// A session is no code, and a code is no session.
			for _, none := range []string{session, other, "none"} {
				wantNoCode(t, s.Tokens, none)
			}
			wantSessions(t, s.Tokens, []string{before, during}, "")
			mustRedeem(t, s.Tokens, before)
			mustRedeem(t, s.Tokens, during)

			before, during = newCode(t, s.Tokens), newCode(t, s.Tokens)
			now = start.Add(SignInTime)
			wantNoCode(t, s.Tokens, before)
			wantNoCode(t, s.Tokens, during)
			now = start.Add(SessionTime - 1)
			wantSessions(t, s.Tokens, []string{session, other}, "Ada")
			now = start.Add(SessionTime) // cached, but expired
			wantSessions(t, s.Tokens, []string{session, other}, "")

			repair()
			during, other = newCode(t, s.Tokens), signIn(t, s.Tokens)
			s.runTurn(ctx, g)
			s.wantRows(t, "token", 2) // the last code and session
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

// If the database is locked and the store hasn't noticed it yet, a user who signs in waits only for
// a limited time.
func TestUnsaved_LockWaitIsBounded(t *testing.T) {
	t.Parallel()
	s := open(t, newDatabase(t), nil)
	code, token := newCode(t, s.Tokens), mustNewToken(t, s.Tokens, anna, 0)
	s.exec(t, "PRAGMA busy_timeout = 86400000")
	unlock := lock(t, s.db.path)
	defer unlock()
	mustRedeem(t, s.Tokens, code)
	wantNoCode(t, s.Tokens, code)
	mustBeginSession(t, s.Tokens, token, anna)
}

// Exactly one of several people redeems a code, even if the database recovers and a flush runs in
// the meantime.
func TestUnsaved_OneRedeemsDuringRecovery(t *testing.T) {
	t.Parallel()
	for name, harm := range tokenFailures {
		t.Run(name, func(t *testing.T) {
			s, g := openWithGuard(t, nil)
			for i := range 30 {
				code := ""
				if i%2 == 0 {
					code = newCode(t, s.Tokens)
				}
				repair := harm(t, s)
				if i%2 == 1 {
					code = newCode(t, s.Tokens)
				}
				var mending sync.WaitGroup
				mending.Go(func() {
					repair()
					s.runTurn(ctx, g)
				})
				if won := redeemAll(t, code, s.Tokens); won != 1 {
					t.Errorf("round %d: %d won", i, won)
				}
				mending.Wait()
			}
		})
	}
}

// If a code is redeemed or a session ends while a flush writes it, the next flush writes the
// change.
func TestUnsaved_ChangedDuringFlush(t *testing.T) {
	t.Parallel()
	s, g := openWithGuard(t, nil)
	repair := tokenFailures["locked"](t, s)
	code, session := newCode(t, s.Tokens), signIn(t, s.Tokens)
	repair()
	written := s.Tokens.queue.peek()
	must(t, s.db.write(ctx, func(tx *sql.Tx) error { return writeTokens(ctx, tx, written) }))
	other := mustRedeem(t, s.Tokens, code)
	must(t, s.Tokens.EndSession(ctx, session))
	s.Tokens.queue.removeStored(written)
	for range 2 {
		wantNoCode(t, s.Tokens, code)
		wantSession(t, s.Tokens, session, "")
		wantSession(t, s.Tokens, other, "Ada")
		s.runTurn(ctx, g)
	}
	s.wantRows(t, "token", 1) // the session
}

func TestTokens_BesideOwnerFail(t *testing.T) {
	t.Parallel()
	for name, harm := range tokenFailures {
		t.Run(name, func(t *testing.T) {
			path := newDatabase(t)
			s := open(t, path, nil)
			session, code := signIn(t, s.Tokens), newCode(t, s.Tokens)
			beside := openSecond(t, path, at(start))
			repair := harm(t, &Store{Tokens: beside, db: beside.db})
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

// TestUnsaved_CancelledSignIn checks that a cancelled request isn't treated as a database failure,
// and that nothing of the sign-in is kept.
func TestUnsaved_CancelledSignIn(t *testing.T) {
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
	if n := len(s.Tokens.queue.peek()); n != 0 {
		t.Errorf("%d tokens wait", n)
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

package signin

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
)

// keepBusy takes every reading connection until the test ends, as long queries do.
func keepBusy(t *testing.T, s *store) {
	t.Helper()
	for range s.db.Reader.Stats().MaxOpenConnections {
		conn, err := s.db.Reader.Conn(ctx)
		must(t, err)
		t.Cleanup(func() { must(t, conn.Close()) })
	}
}

// withTestTimeout returns a context with which a test fails instead of waiting forever.
func withTestTimeout(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func openSecond(t *testing.T, path string, now func() time.Time) *Tokens {
	t.Helper()
	beside, err := openBeside(path, now)
	must(t, err)
	t.Cleanup(func() { must(t, beside.Close()) })
	return beside
}

func TestTokens_BusyDatabaseAdmits(t *testing.T) {
	t.Parallel()
	path := newDatabase(t)
	s := open(t, path, nil)
	beside := openSecond(t, path, at(start))
	keepBusy(t, s)
	soon := withTestTimeout(t)
	token := mustNewToken(t, beside, anna, 0)
	if who, ok, err := s.Tokens.Token(soon, token); !reflect.DeepEqual(who, anna) || !ok || err != nil {
		t.Errorf("a token that was just made: %v, %v, %v", who, ok, err)
	}
	session, who, err := s.Tokens.BeginSession(soon, token)
	if !reflect.DeepEqual(who, anna) || session == "" || err != nil {
		t.Errorf("signing in with it: %v, %v", who, err)
	}
	code, err := beside.NewSignInCode(ctx, ada, 0)
	must(t, err)
	other, who, err := s.Tokens.RedeemCode(soon, code)
	if !reflect.DeepEqual(who, ada) || err != nil {
		t.Errorf("a fresh code: %v, %v", who, err)
	}
	for session, want := range map[string]auth.Identity{session: anna, other: ada} {
		if who, ok, err := s.Tokens.Session(soon, session); !reflect.DeepEqual(who, want) || !ok || err != nil {
			t.Errorf("the session of %s: %v, %v, %v", want.Name, who, ok, err)
		}
	}
}

func TestTokens_BusyDatabaseRefusesRevoked(t *testing.T) {
	t.Parallel()
	path, now := newDatabase(t), start
	clock := func() time.Time { return now }
	s := open(t, path, &Options{Now: clock})
	beside := openSecond(t, path, clock)
	token := mustNewToken(t, s.Tokens, anna, 0)
	session := mustBeginSession(t, s.Tokens, token, anna)
	keepBusy(t, s)
	_, err := beside.Revoke(ctx, anna.Name)
	must(t, err)
	now = now.Add(4 * time.Second)
	soon := withTestTimeout(t)
	if who, ok, err := s.Tokens.Token(soon, token); ok || err != nil {
		t.Errorf("the token is still good: %v, %v", who, err)
	}
	if who, ok, err := s.Tokens.Session(soon, session); ok || err != nil {
		t.Errorf("its session still holds: %v, %v", who, err)
	}
}

// A stuck look-up gives no access to a revoked user. Callers that wait for it give up, and get no
// database error.
func TestCache_StuckRead(t *testing.T) {
	t.Parallel()
	now := start
	s := open(t, newDatabase(t), &Options{Now: func() time.Time { return now }})
	token := mustNewToken(t, s.Tokens, anna, 0)
	wantToken(t, s.Tokens, token, anna)
	for range s.db.LookUps.Stats().MaxOpenConnections {
		conn, err := s.db.LookUps.Conn(ctx)
		must(t, err)
		defer conn.Close()
	}
	(*s.Tokens.cache.known.Load())[hashToken(token)].looking.Store(true)
	now = now.Add(tokenWait - 1)
	wantToken(t, s.Tokens, token, anna)
	now = now.Add(1)
	if _, ok, err := s.Tokens.Token(endedContext, token); ok || !errors.Is(err, context.Canceled) || isFileError(err) {
		t.Errorf("after %v: %v, %v", tokenWait, ok, err)
	}
}

// Only so many rows are known. Those that nobody uses any more are forgotten.
func TestCache_IsBounded(t *testing.T) {
	t.Parallel()
	c := newCache()
	rows := map[tokenHash]*tokenRow{}
	for i := range maxKnown {
		rows[hashToken(fmt.Sprint(i))] = &tokenRow{}
	}
	c.add(rows, start, 0)
	now := start.Add(2 * tokenWait)
	_, err := c.row(ctx, hashToken("7"), now, func() (*tokenRow, error) { return &tokenRow{}, nil })
	must(t, err)
	c.add(map[tokenHash]*tokenRow{hashToken("new"): {}}, now, 0)
	if n := len(*c.known.Load()); n != 2 {
		t.Errorf("%d are known", n)
	}
}

// Users known before a failure stay signed in; others are unknown.
func TestCache_FailureSignsNobodyOut(t *testing.T) {
	t.Parallel()
	now := start
	s := open(t, newDatabase(t), &Options{Now: func() time.Time { return now }})
	known := mustNewToken(t, s.Tokens, anna, 0)
	wantToken(t, s.Tokens, known, anna)
	s.exec(t, "INSERT INTO setting (channel_id, name, value) VALUES ('', 'x', '')") // so that it has to be read again
	repair := damage(t, s)
	for range 3 {
		now = now.Add(24 * time.Hour)
		wantToken(t, s.Tokens, known, anna)
		if _, ok, err := s.Tokens.Token(ctx, "unknown"); ok || !isFileError(err) {
			t.Errorf("one that wasn't known: %v, %v", ok, err)
		}
		failed := s.Tokens.cache.failed.Load()
		wantToken(t, s.Tokens, known, anna)
		if _, _, err := s.Tokens.Token(ctx, "another"); !isFileError(err) || s.Tokens.cache.failed.Load() != failed {
			t.Errorf("%v, and the database was asked more often within a second", err)
		}
	}
	repair()
	now = now.Add(time.Second)
	wantNoToken(t, s.Tokens, "unknown")
	wantToken(t, s.Tokens, known, anna)
}

// While the database doesn't answer, strangers don't keep a known user waiting: all look-ups end
// with the first one that fails, even if it began more than tokenCheck ago.
func TestCache_FailureEndsAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, failure := newCache(), errors.New("locked")
		c.add(map[tokenHash]*tokenRow{hashToken("known"): {kind: tokenKind}}, time.Now().Add(-time.Hour), 0)
		began, reads := time.Now(), atomic.Int64{}
		look := func(token string) (*tokenRow, error) {
			return c.row(ctx, hashToken(token), time.Now(), func() (*tokenRow, error) {
				reads.Add(1)
				<-time.After(2 * tokenCheck)
				return nil, failure
			})
		}
		var asking sync.WaitGroup
		for i := range 100 {
			asking.Go(func() {
				if _, err := look(fmt.Sprint(i)); !errors.Is(err, failure) {
					t.Error(err)
				}
			})
		}
		<-time.After(tokenCheck * 3 / 2)
		asking.Go(func() {
			if row, err := look("known"); row == nil || err != nil {
				t.Errorf("the known user: %v, %v", row, err)
			}
		})
		asking.Wait()
		if took := time.Since(began); took != 2*tokenCheck || reads.Load() != maxLookUps {
			t.Errorf("%d reads in %v", reads.Load(), took)
		}
	})
}

// found is what a look-up in these tests finds.
var found = &tokenRow{kind: tokenKind}

// finds returns a look-up with that result.
func finds(row *tokenRow, err error) func() (*tokenRow, error) {
	return func() (*tokenRow, error) { return row, err }
}

// A row that ends while it is looked up isn't known afterwards.
func TestCache_EndsDuringLookUp(t *testing.T) {
	t.Parallel()
	c, hash := newCache(), hashToken("x")
	_, err := c.row(ctx, hash, start, func() (*tokenRow, error) {
		c.remove(func(h tokenHash, _ *tokenRow) bool { return h == hash })
		return found, nil
	})
	must(t, err)
	if row, err := c.row(ctx, hash, start, finds(nil, nil)); row != nil || err != nil {
		t.Errorf("afterwards: %v, %v", row, err)
	}
}

// A row that another process has ended doesn't come back while the database fails.
func TestCache_EndedElsewhere(t *testing.T) {
	t.Parallel()
	c, hash := newCache(), hashToken("x")
	c.add(map[tokenHash]*tokenRow{hash: found}, start, 0)
	for i, read := range []func() (*tokenRow, error){finds(nil, nil), finds(nil, errors.New("failing"))} {
		if row, _ := c.row(ctx, hash, start.Add(time.Minute), read); row != nil {
			t.Errorf("look-up %d: still valid", i)
		}
	}
}

// A known row is looked up again if the clock has gone back.
func TestCache_ClockGoesBack(t *testing.T) {
	t.Parallel()
	c, hash := newCache(), hashToken("x")
	c.add(map[tokenHash]*tokenRow{hash: found}, start, 0)
	if row, err := c.row(ctx, hash, start.Add(-time.Hour), finds(nil, nil)); row != nil || err != nil {
		t.Errorf("%v, %v", row, err)
	}
}

// A request that ends during its look-up is no failure of the database.
func TestCache_CancelledLookUp(t *testing.T) {
	t.Parallel()
	c, hash := newCache(), hashToken("x")
	gone, leave := context.WithCancel(ctx)
	_, err := c.row(gone, hash, start, func() (*tokenRow, error) { leave(); return nil, gone.Err() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the request: %v", err)
	}
	if row, err := c.row(ctx, hash, start, finds(found, nil)); row != found || err != nil {
		t.Errorf("the next one: %v, %v", row, err)
	}
}

// After a start, everyone is known before the first look-up.
func TestPreload_BeforeFailure(t *testing.T) {
	t.Parallel()
	path := newDatabase(t)
	before := open(t, path, nil)
	token := mustNewToken(t, before.Tokens, anna, 0)
	session := mustBeginSession(t, before.Tokens, token, anna)
	must(t, before.Close())
	s := open(t, path, nil)
	s.Tokens.Preload(ctx)
	must(t, s.db.LookUps.Close())
	wantToken(t, s.Tokens, token, anna)
	wantSession(t, s.Tokens, session, "anna")
}

// The newest sessions of a name are kept; other names' sessions don't matter.
func TestSessions_NewestKept(t *testing.T) {
	t.Parallel()
	path, now := newDatabase(t), start
	clock := func() time.Time { return now }
	s := open(t, path, &Options{Now: clock})
	token, other := mustNewToken(t, s.Tokens, anna, time.Hour), mustNewToken(t, s.Tokens, berta, 0)
	bertas := mustBeginSession(t, s.Tokens, other, berta)
	var sessions []string
	for range 53 {
		now = now.Add(time.Second)
		sessions = append(sessions, mustBeginSession(t, s.Tokens, token, anna))
	}
	wantNewest(t, s.Tokens, sessions, 50)
	wantSession(t, s.Tokens, bertas, "berta")
	wantToken(t, s.Tokens, token, anna)
	must(t, s.Close())
	wantNewest(t, open(t, path, &Options{Now: clock}).Tokens, sessions, 50)
}

func wantNewest(t *testing.T, tokens *Tokens, sessions []string, most int) {
	t.Helper()
	for i, session := range sessions {
		want := ""
		if i >= len(sessions)-most {
			want = "anna"
		}
		wantSession(t, tokens, session, want)
	}
}

// An older version kept more sessions. The next session of the same name deletes them.
func TestSessions_OlderVersionsAreBounded(t *testing.T) {
	t.Parallel()
	s := open(t, newDatabase(t), nil)
	token := mustNewToken(t, s.Tokens, anna, 0)
	var sessions []string
	must(t, s.db.Write(ctx, func(tx *sql.Tx) error {
		for i := range 120 {
			sessions = append(sessions, fmt.Sprint(i))
			hash := hashToken(sessions[i])
			if _, err := tx.Exec("INSERT INTO token (hash, kind, name, made_at, expires_at) VALUES (?, 'session', 'anna', ?, ?)",
				hash[:], start.Add(-time.Hour).UnixNano()+int64(i), start.Add(time.Hour).UnixNano()); err != nil {
				return err
			}
		}
		return nil
	}))
	mustBeginSession(t, s.Tokens, token, anna)
	wantNewest(t, s.Tokens, sessions, 49)
	s.wantRows(t, "token", 51) // the token and 50 sessions
}

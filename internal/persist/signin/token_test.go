package signin

import (
	"bytes"
	"database/sql"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
)

var (
	anna  = auth.Identity{Name: "anna", Access: auth.View, From: auth.FromToken}
	berta = auth.Identity{Name: "berta", Access: auth.Moderate, From: auth.FromToken}
)

func mustNewToken(t *testing.T, tokens *Tokens, who auth.Identity, ttl time.Duration) (token string) {
	t.Helper()
	token, err := tokens.NewToken(ctx, who, ttl)
	must(t, err)
	return token
}

// mustBeginSession begins a session with a token.
func mustBeginSession(t *testing.T, tokens *Tokens, token string, want auth.Identity) (session string) {
	t.Helper()
	session, who, err := tokens.BeginSession(ctx, token)
	must(t, err)
	if session == "" || !reflect.DeepEqual(who, want) {
		t.Fatalf("session %q of %v, want %v", session, who, want)
	}
	wantSession(t, tokens, session, want.Name)
	return session
}

func wantToken(t *testing.T, tokens *Tokens, token string, want auth.Identity) {
	t.Helper()
	who, ok, err := tokens.Token(ctx, token)
	must(t, err)
	if !reflect.DeepEqual(who, want) || ok != (want.Name != "") {
		t.Errorf("token of %v, %v; want %v", who, ok, want)
	}
}

func wantNoToken(t *testing.T, tokens *Tokens, token string) {
	t.Helper()
	wantToken(t, tokens, token, auth.Identity{})
	if session, _, err := tokens.BeginSession(ctx, token); session != "" || err != nil {
		t.Errorf("what is no token has begun the session %q, %v", session, err)
	}
}

func TestToken_Holder(t *testing.T) {
	t.Parallel()
	path := newDatabase(t)
	s := open(t, path, nil)
	beside := openSecond(t, path, at(start))
	token := mustNewToken(t, beside, anna, 0)
	wantToken(t, s.Tokens, token, anna)
	session := mustBeginSession(t, s.Tokens, token, anna)
	for _, none := range []string{session, signIn(t, s.Tokens), newCode(t, s.Tokens), "none", ""} {
		wantNoToken(t, s.Tokens, none)
	}
	wantSession(t, s.Tokens, token, "")
	wantNoCode(t, s.Tokens, token)
	for _, data := range snapshot(t, path) {
		if bytes.Contains(data, []byte(token)) || bytes.Contains(data, []byte(session)) {
			t.Error("a token or session can be read from the database")
		}
	}
}

func TestNewToken_OnePerName(t *testing.T) {
	t.Parallel()
	now := start
	s := open(t, newDatabase(t), &Options{Now: func() time.Time { return now }})
	first := mustNewToken(t, s.Tokens, anna, time.Hour)
	_, err := s.Tokens.NewToken(ctx, auth.Identity{Name: "anna", Access: auth.Own}, 0)
	wantError(t, err, `"anna" already has a token: revoke it with `+"`chatguard token revoke`")
	wantToken(t, s.Tokens, first, anna)
	now = start.Add(time.Hour)
	mustNewToken(t, s.Tokens, anna, 0) // the first has expired
	wantNoToken(t, s.Tokens, first)
}

func TestSession_EndsWithToken(t *testing.T) {
	t.Parallel()
	now := start
	s := open(t, newDatabase(t), &Options{Now: func() time.Time { return now }})
	short, long := mustNewToken(t, s.Tokens, anna, time.Hour), mustNewToken(t, s.Tokens, berta, 0)
	now = start.Add(30 * time.Minute)
	annas, bertas := mustBeginSession(t, s.Tokens, short, anna), mustBeginSession(t, s.Tokens, long, berta)
	now = start.Add(time.Hour - 1)
	wantSession(t, s.Tokens, annas, "anna")
	now = start.Add(time.Hour)
	wantSession(t, s.Tokens, annas, "")
	wantNoToken(t, s.Tokens, short)
	now = start.Add(30*time.Minute + SessionTime - 1)
	wantSession(t, s.Tokens, bertas, "berta")
	now = start.Add(30*time.Minute + SessionTime)
	wantSession(t, s.Tokens, bertas, "")
	wantToken(t, s.Tokens, long, berta)
}

func TestRevoke_BesideOwner(t *testing.T) {
	t.Parallel()
	path, now := newDatabase(t), start
	opts := &Options{Now: func() time.Time { return now }}
	s := open(t, path, opts)
	beside := openSecond(t, path, opts.Now)
	token, other := mustNewToken(t, s.Tokens, anna, 0), mustNewToken(t, s.Tokens, berta, 0)
	code, err := s.Tokens.NewSignInCode(ctx, anna, 0)
	must(t, err)
	sessions := []string{mustBeginSession(t, s.Tokens, token, anna), mustBeginSession(t, s.Tokens, token, anna)}
	bertas := mustBeginSession(t, s.Tokens, other, berta)
	wantToken(t, s.Tokens, token, anna) // it is cached

	ended, err := beside.Revoke(ctx, "anna")
	must(t, err)
	if ended != (auth.Revoked{Tokens: 1, Links: 1, Sessions: 2}) {
		t.Errorf("ended %+v", ended)
	}
	wantNoToken(t, beside, token)
	now = now.Add(tokenWait)
	wantNoToken(t, s.Tokens, token)
	wantNoCode(t, s.Tokens, code)
	for _, session := range sessions {
		wantSession(t, s.Tokens, session, "")
	}
	wantSession(t, s.Tokens, bertas, "berta")
	wantToken(t, s.Tokens, other, berta)
	if ended, err := beside.Revoke(ctx, "anna"); ended != (auth.Revoked{}) || err != nil {
		t.Errorf("revoked again: %+v, %v", ended, err)
	}
	now = now.Add(time.Second)
	mustBeginSession(t, s.Tokens, mustNewToken(t, beside, anna, 0), anna) // the name is free again
}

// Between reading the token and writing the session, another process revokes the token.
func TestBeginSession_RevokedMeanwhile(t *testing.T) {
	t.Parallel()
	path := newDatabase(t)
	s := open(t, path, nil)
	beside := openSecond(t, path, at(start))
	token := mustNewToken(t, s.Tokens, anna, 0)
	begun := make(chan string, 1)
	must(t, beside.db.Write(ctx, func(tx *sql.Tx) error {
		go func() {
			session, _, err := s.Tokens.BeginSession(ctx, token)
			if err != nil {
				t.Error(err)
			}
			begun <- session
		}()
		for s.db.Writer.Stats().InUse == 0 {
			runtime.Gosched()
		}
		if _, err := deleteTokens(ctx, tx, anna.Name, start); err != nil {
			return err
		}
		return insertToken(ctx, tx, revocationOf(anna.Name), &tokenRow{revokedKind, auth.Identity{Name: anna.Name}, start, start.Add(SessionTime), start})
	}))
	if session := <-begun; session != "" {
		t.Errorf("the session %q has begun", session)
	}
}

// Sessions that were stored before tokens had roles belong to the owner.
func TestSession_OlderAreOwners(t *testing.T) {
	t.Parallel()
	s := open(t, newDatabase(t), nil)
	hash := hashToken("from before")
	must(t, s.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO token (hash, kind, name, expires_at) VALUES (?, 'session', 'anna', ?)", hash[:], start.Add(time.Hour).UnixNano())
		return err
	}))
	who, ok, err := s.Tokens.Session(ctx, "from before")
	must(t, err)
	if !ok || !reflect.DeepEqual(who, auth.Identity{Name: "anna", Access: auth.Own, From: auth.FromLink}) {
		t.Errorf("session of %v, %v", who, ok)
	}
}

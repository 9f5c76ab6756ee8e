package persist

import (
	"reflect"
	"testing"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/persist/signin"
)

// ada is the person who signs in.
var ada = auth.Identity{Name: "Ada", Access: auth.Moderate, From: auth.FromLink}

// newCode creates a code for Ada.
func newCode(t *testing.T, tokens *signin.Tokens) string {
	t.Helper()
	code, err := tokens.NewSignInCode(ctx, ada, 0)
	must(t, err)
	return code
}

// signIn signs Ada in and returns her session.
func signIn(t *testing.T, tokens *signin.Tokens) string {
	t.Helper()
	session, _, err := tokens.RedeemCode(ctx, newCode(t, tokens))
	must(t, err)
	return session
}

func wantSession(t *testing.T, tokens *signin.Tokens, session, want string) {
	t.Helper()
	who, ok, err := tokens.Session(ctx, session)
	must(t, err)
	if who.Name != want || ok != (want != "") {
		t.Errorf("session of %v, %v; want %q", who, ok, want)
	}
}

func wantToken(t *testing.T, tokens *signin.Tokens, token string, want auth.Identity) {
	t.Helper()
	who, ok, err := tokens.Token(ctx, token)
	must(t, err)
	if !reflect.DeepEqual(who, want) || ok != (want.Name != "") {
		t.Errorf("token of %v, %v; want %v", who, ok, want)
	}
}

package twitchbot

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/chat/twitch/token"
)

const (
	// AnonymousTime is how long chat is read without an account after the chat refused an account
	// whose token is valid.
	AnonymousTime = 10 * time.Minute
	// refusedAgain is the time within which a second refusal means that a new token doesn't help.
	refusedAgain = time.Hour
)

// chatLogin decides which account reads Twitch's IRC. The chat may refuse a token that the rest of
// Twitch accepts, for example one without chat:read. Chat is then read without an account for a
// while. chatLogin is safe for concurrent use.
type chatLogin struct {
	mu        sync.Mutex
	refused   token.Identity // the identity that the chat refused last
	refusedAt time.Time      // zero means never
	until     time.Time      // when the refused identity is tried again
	anonymous bool           // connected without an account after a refusal
}

// noteRefusal records a refusal, and reports whether the same identity was refused recently.
func (c *chatLogin) noteRefusal(id token.Identity) (again bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	again = isSameLogin(id, c.refused) && time.Since(c.refusedAt) < refusedAgain
	c.refused, c.refusedAt = id, time.Now()
	return again
}

// goAnonymous stops the use of the refused identity for AnonymousTime. Chat is then read without an
// account.
func (c *chatLogin) goAnonymous() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = time.Now().Add(AnonymousTime)
}

// mayLogIn reports whether a new connection should log in with the token of this identity. It
// records the answer for notes.
func (c *chatLogin) mayLogIn(id token.Identity) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.anonymous = isSameLogin(id, c.refused) && time.Now().Before(c.until)
	return !c.anonymous
}

// notes returns why chat is read without an account although this account has a token. It returns
// nil if chat is read with an account, or if the chat refused a different account.
func (c *chatLogin) notes(id token.Identity) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.anonymous || !isSameLogin(id, c.refused) {
		return nil
	}
	return []string{fmt.Sprintf("read without an account for now, because Twitch's chat refuses the token of %s: run `chatguard login` again", id.Login)}
}

// isSameLogin reports whether two identities have the same account and scopes, so that a refusal of
// one applies to the other.
func isSameLogin(a, b token.Identity) bool {
	return a.UserID == b.UserID && slices.Equal(a.Scopes, b.Scopes)
}

// chatToken returns the token for logging in to the chat. If there is none that the chat accepts,
// it returns "" and chat is read anonymously.
func (t *Connection) chatToken(ctx context.Context) (string, error) {
	s := t.tokens.Status()
	if s.State == token.Missing || s.State == token.Revoked || s.Identity.Login == "" || !t.chat.mayLogIn(s.Identity) {
		return "", nil
	}
	return t.tokens.Token(ctx)
}

// noteChatRefusal records that the chat has refused a token. On the first refusal, it requests
// another token. If there is none, or if the chat refuses that token as well, chat is read without
// an account for a while.
func (t *Connection) noteChatRefusal(ctx context.Context, token string) error {
	again := t.chat.noteRefusal(t.tokens.Status().Identity)
	var err error
	if !again {
		err = t.tokens.Refused(ctx, token)
	}
	if ctx.Err() == nil && (again || err != nil) {
		t.chat.goAnonymous()
		t.log.Warn("Twitch's chat refuses the token, and is read without an account for a while", "for", AnonymousTime, "error", err)
	}
	return ctx.Err()
}

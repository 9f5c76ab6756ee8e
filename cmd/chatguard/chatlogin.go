package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/chat/twitch"
)

const (
	anonymousTime = 10 * time.Minute // how long the chat is read without an account, where it refuses one whose token is good
	refusedAgain  = time.Hour        // within which a second refusal shows that renewing the token doesn't help
)

// chatLogin is as whom Twitch's IRC is read. The chat may refuse a token that the rest of Twitch takes, one that lacks chat:read say: then it is read
// without an account for a while. It is safe for concurrent use.
type chatLogin struct {
	mu        sync.Mutex
	refused   twitch.Identity // the last one that the chat refused
	refusedAt time.Time       // zero for never
	until     time.Time       // when the refused one is tried again
	anonymous bool            // the present connection is without an account because of that
}

// refuse takes note of a refusal, and reports whether it isn't the first of late.
func (c *chatLogin) refuse(id twitch.Identity) (again bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	again = sameLogin(id, c.refused) && time.Since(c.refusedAt) < refusedAgain
	c.refused, c.refusedAt = id, time.Now()
	return again
}

// forgo lets the chat be read without an account for a while.
func (c *chatLogin) forgo() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = time.Now().Add(anonymousTime)
}

// begin notes that a connection begins while the token is this account's, and reports whether it is to be used.
func (c *chatLogin) begin(id twitch.Identity) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.anonymous = sameLogin(id, c.refused) && time.Now().Before(c.until)
	return !c.anonymous
}

// notes say why the chat is read without an account, though there is a token of this one; none where that isn't so.
func (c *chatLogin) notes(id twitch.Identity) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.anonymous || !sameLogin(id, c.refused) {
		return nil
	}
	return []string{fmt.Sprintf("read without an account for now, because Twitch's chat refuses the token of %s: run `chatguard login` again", id.Login)}
}

// sameLogin reports whether tokens are the same account's and allow the same, so that what is refused to one is to the other.
func sameLogin(a, b twitch.Identity) bool {
	return a.UserID == b.UserID && slices.Equal(a.Scopes, b.Scopes)
}

// chatToken is the token to log in to the chat with; none while there is none that the chat takes, and reading is anonymous then.
func (t *twitchConnection) chatToken(ctx context.Context) (string, error) {
	s := t.tokens.Status()
	if s.State == twitch.TokenMissing || s.State == twitch.TokenRevoked || s.Identity.Login == "" || !t.chat.begin(s.Identity) {
		return "", nil
	}
	return t.tokens.Token(ctx)
}

// chatRefused takes note that the chat refused a token. The first time another one is asked for; where there is none, or that is refused too, reading
// goes on without.
func (t *twitchConnection) chatRefused(ctx context.Context, token string) error {
	again := t.chat.refuse(t.tokens.Status().Identity)
	var err error
	if !again {
		err = t.tokens.Refused(ctx, token)
	}
	if ctx.Err() == nil && (again || err != nil) {
		t.chat.forgo()
		t.log.Warn("Twitch's chat refuses the token, and is read without an account for a while", "for", anonymousTime, "error", err)
	}
	return ctx.Err()
}

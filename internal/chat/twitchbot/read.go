package twitchbot

import (
	"context"
	"errors"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/irc"
	"github.com/chatguard/chatguard/internal/chat/twitch/token"
)

// Delays before a refused reader tries again.
const (
	retryMin = 5 * time.Second
	RetryMax = 5 * time.Minute // after many refusals in a row
)

// read reads until the context ends, or until an error means that another try can't help. A refused
// token is not such an error, because the refusal may be temporary and somebody may log in again.
func (t *Connection) read(ctx context.Context, sink chat.Sink) error {
	for wait := retryMin; t.waitForToken(ctx); wait = min(2*wait, RetryMax) {
		began := time.Now()
		err := t.readOnce(ctx, sink)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil || time.Since(began) > RetryMax:
			// Reading was restarted for a new account, or it worked for a long time.
			wait = retryMin
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, twitch.ErrToken) && !errors.Is(err, irc.ErrLogin) {
			return err
		}
		t.log.Error("Twitch's chat can't be read; trying again", "wait", wait, "error", err)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
	return nil
}

// readOnce reads until the context ends or restart is called.
func (t *Connection) readOnce(ctx context.Context, sink chat.Sink) error {
	ctx, hangUp := context.WithCancel(ctx)
	defer hangUp()
	t.mu.Lock()
	t.hangUp = hangUp
	t.mu.Unlock()
	return t.reader.Run(ctx, sink)
}

// restart restarts reading with the token's current account.
func (t *Connection) restart() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.hangUp != nil {
		t.hangUp()
	}
}

// tokenTime is how long reading waits for Twitch to confirm the token's owner. After that it starts
// anonymously.
const tokenTime = 10 * time.Second

// waitForToken waits until it is known whether there is a valid token. If the transport needs one,
// it waits until there is one. It returns false if the context ended.
func (t *Connection) waitForToken(ctx context.Context) bool {
	needed := t.NeedsToken()
	waiting := ctx
	if !needed {
		var stop context.CancelFunc
		waiting, stop = context.WithTimeout(ctx, tokenTime)
		defer stop()
		_ = t.tokens.Check(waiting) // the status has the result
		if s := t.tokens.Status(); s.State == token.Missing || s.State == token.Revoked {
			return true
		}
	}
	if _, err := t.tokens.Wait(waiting); err != nil && needed {
		return false
	}
	return ctx.Err() == nil
}

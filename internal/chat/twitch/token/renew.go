package token

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/chatguard/chatguard/internal/chat/twitch"
)

// Intervals for maintaining the token.
const (
	// renewBefore is the time before expiry at which a token is renewed at the latest. For a
	// short-lived token, a tenth of the lifetime applies if that is less.
	renewBefore = time.Minute
	checkEvery  = time.Hour // interval at which Twitch wants tokens validated
	renewalTime = 30 * time.Second
	authMin     = time.Second // first delay if the identity server fails
	authMax     = time.Minute
)

// renewal is a renewal in progress, shared by all callers that wait for it.
type renewal struct {
	done chan struct{}
	err  error // readable once done is closed
}

// renew replaces the pair that contains this access token, unless the pair has been replaced
// already. Concurrent callers wait for the same renewal.
func (t *Store) renew(ctx context.Context, access string) error {
	t.mu.Lock()
	r := t.renewal
	if r == nil {
		switch {
		case t.known.record.Access != access:
			t.mu.Unlock()
			return nil
		case t.known.failures > 0 && t.Clock.Now().Before(t.known.retryAt):
			defer t.mu.Unlock()
			return t.known.trouble
		case t.closed:
			t.mu.Unlock()
			return fmt.Errorf("renew the token: %w (chatguard is ending)", twitch.ErrUnavailable)
		}
		r = &renewal{done: make(chan struct{})}
		t.renewal = r
		go t.finish(context.WithoutCancel(ctx), r, access) // Close waits for it
	}
	t.mu.Unlock()
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// finish carries out a renewal and releases the callers that wait for it.
func (t *Store) finish(ctx context.Context, r *renewal, access string) {
	ctx, stop := context.WithTimeout(ctx, renewalTime)
	defer stop()
	err := t.renewOnce(ctx, access)
	t.mu.Lock()
	defer t.mu.Unlock()
	r.err = err
	t.renewal = nil
	close(r.done)
}

func (t *Store) renewOnce(ctx context.Context, access string) (err error) {
	t.fileMu.Lock()
	defer t.fileMu.Unlock()
	k := t.current()
	if k.record.Access != access {
		return nil
	}
	if !t.isRenewable(k.record.Pair) {
		return t.check(ctx) // the token may still be valid
	}
	unlock, err := t.file().lock(ctx)
	switch {
	case err == nil:
		defer func() { err = errors.Join(err, unlock()) }()
		if t.reload() {
			return nil // another process renewed the token or logged in
		}
	case ctx.Err() != nil:
		t.noteFailure(err)
		return err
	}
	old := k.record.Pair
	old.ClientID = t.clientOf(old)
	pair, err := t.server().renew(ctx, old)
	switch {
	case errors.Is(err, twitch.ErrToken):
		t.markRevoked(err)
	case err != nil:
		t.noteFailure(err)
	default:
		t.replace(pair)
	}
	return err
}

// isRenewable reports whether a pair can be renewed. That requires a refresh token and a known
// application.
func (t *Store) isRenewable(p Pair) bool { return p.Refresh != "" && t.clientOf(p) != "" }

// replace stores a new pair before the pair is used. The caller holds fileMu, and the file's lock
// if it could be acquired.
func (t *Store) replace(p Pair) {
	record := t.current().record
	record.Pair = p
	err := t.store(record)
	t.update(func(k *knowledge) {
		now := t.Clock.Now()
		k.countRejected(now)
		k.record, k.renewed, k.renewEarly = record, now, renewBefore
		if !p.Expires.IsZero() {
			k.renewEarly = min(renewBefore, p.Expires.Sub(now)/10)
		}
		k.fileTrouble, k.unsaved = err, err != nil
		if k.rejectedRenewals == 0 {
			k.markGood()
		}
		if record.UserID == "" || k.rejectedRenewals > 0 {
			k.checkAt = now
		}
	})
	twitch.LoggerOr(t.Logger).Info("twitch: renewed the token", "expires", p.Expires)
}

// countRejected records that the token is about to be replaced. A token counts as rejected if it is
// replaced soon after it was issued, although it isn't about to expire.
func (k *knowledge) countRejected(now time.Time) {
	if k.record.isDue(now, 2*k.renewEarly) || k.renewed.IsZero() || now.Sub(k.renewed) > 2*k.freshTime() {
		k.rejectedRenewals = 0
		return
	}
	k.rejectedRenewals++
}

// check asks Twitch for the token's owner and whether the token is valid. It records a refusal only
// if the token can't be renewed. The caller holds fileMu.
func (t *Store) check(ctx context.Context) error {
	record := t.current().record
	id, err := t.server().validate(ctx, record.Access)
	switch {
	case err == nil:
		t.learn(ctx, record, id)
	case ctx.Err() != nil:
		return ctx.Err()
	case !errors.Is(err, twitch.ErrToken):
		t.noteFailure(err)
	case !t.isRenewable(record.Pair):
		t.markRevoked(err)
	}
	return err
}

// learn records what Twitch says about the token. If the record changes noticeably, learn also
// stores it in the file.
func (t *Store) learn(ctx context.Context, record record, id Identity) {
	told := record
	told.UserID, told.Login, told.ClientID, told.Scopes = id.UserID, id.Login, id.ClientID, id.Scopes
	if id.ExpiresIn > 0 {
		told.Expires = t.server().nowPlus(id.ExpiresIn)
	}
	if told.knowsMoreThan(record) && t.save(ctx, told) {
		return
	}
	t.update(func(k *knowledge) {
		k.record = told
		k.markGood()
		k.checkAt = t.server().nowPlus(checkEvery)
	})
}

// knowsMoreThan reports whether a record differs from another one in a way that is worth storing.
// Twitch gives times in seconds from now, so small differences are ignored.
func (r record) knowsMoreThan(than record) bool {
	return r.UserID != than.UserID || r.Login != than.Login || r.ClientID != than.ClientID || len(r.Scopes) != len(than.Scopes) ||
		r.Expires.Sub(than.Expires).Abs() > renewBefore
}

// noteNewRefused records that Twitch refuses a token that it has just issued. The token is used
// anyway, because other servers of Twitch may accept it.
func (t *Store) noteNewRefused(err error) {
	t.noteFailure(fmt.Errorf("%w; it is new, so chatguard waits before it renews it again", err))
	t.update(func(k *knowledge) { k.state = Unknown })
}

// markGood records that Twitch accepts the token.
func (k *knowledge) markGood() {
	k.state, k.trouble, k.failures = Good, nil, 0
}

// markRevoked records that Twitch neither accepts nor renews the token.
func (t *Store) markRevoked(err error) {
	t.update(func(k *knowledge) { k.state, k.trouble = Revoked, err })
}

// noteFailure records that Twitch couldn't be asked. A good token stays good until it expires.
func (t *Store) noteFailure(err error) {
	t.update(func(k *knowledge) {
		k.retryAt = t.server().nowPlus(twitch.Backoff(k.failures, authMin, authMax))
		k.failures++
		k.trouble = err
		if k.record.isDue(t.Clock.Now(), 0) {
			k.state = Unknown
		}
	})
}

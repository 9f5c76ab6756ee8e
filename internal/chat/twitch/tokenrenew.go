package twitch

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// How the token is looked after.
const (
	renewBefore = time.Minute // at the latest so long before it expires, or a tenth of its life where that is less
	checkEvery  = time.Hour   // Twitch wants to be asked so often whether a token still holds
	renewalTime = 30 * time.Second
	authMin     = time.Second // between two tries while the identity server is in trouble
	authMax     = time.Minute
)

// renewal is one that is under way, and those who wait for it.
type renewal struct {
	done chan struct{}
	err  error // may be read once done is closed
}

// renew replaces the pair with this access token, unless that has happened already. All who call while it goes on wait for the same one.
func (t *Tokens) renew(ctx context.Context, access string) error {
	t.mu.Lock()
	r := t.renewal
	if r == nil {
		switch {
		case t.known.record.Access != access:
			t.mu.Unlock()
			return nil
		case t.known.failures > 0 && t.now().Before(t.known.retryAt):
			defer t.mu.Unlock()
			return t.known.trouble
		case t.closed:
			t.mu.Unlock()
			return fmt.Errorf("renew the token: %w (chatguard is ending)", ErrUnavailable)
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

// finish does a renewal and lets those go who wait for it.
func (t *Tokens) finish(ctx context.Context, r *renewal, access string) {
	ctx, stop := context.WithTimeout(ctx, renewalTime)
	defer stop()
	err := t.renewOnce(ctx, access)
	t.mu.Lock()
	defer t.mu.Unlock()
	r.err = err
	t.renewal = nil
	close(r.done)
}

func (t *Tokens) renewOnce(ctx context.Context, access string) (err error) {
	t.filing.Lock()
	defer t.filing.Unlock()
	k := t.look()
	if k.record.Access != access {
		return nil
	}
	if !t.renewable(k.record.Pair) {
		return t.check(ctx) // perhaps it is good all the same
	}
	unlock, err := t.file().lock(ctx)
	switch {
	case err == nil:
		defer func() { err = errors.Join(err, unlock()) }()
		if t.takeUp() {
			return nil // another process has renewed it, or logged in
		}
	case ctx.Err() != nil:
		t.failed(err)
		return err
	}
	old := k.record.Pair
	old.ClientID = t.clientOf(old)
	pair, err := t.server().renew(ctx, old)
	switch {
	case errors.Is(err, ErrToken):
		t.refused(err)
	case err != nil:
		t.failed(err)
	default:
		t.replace(pair)
	}
	return err
}

// renewable reports whether a pair can be renewed: without a refresh token, or without knowing whose application it was made for, it can't.
func (t *Tokens) renewable(p Pair) bool { return p.Refresh != "" && t.clientOf(p) != "" }

// replace stores a new pair, and only then lets it be used. The caller holds filing, and the file's lock where there can be one.
func (t *Tokens) replace(p Pair) {
	record := t.look().record
	record.Pair = p
	err := t.store(record)
	t.alter(func(k *knownTokens) {
		now := t.now()
		k.countVain(now)
		k.record, k.renewed, k.early = record, now, renewBefore
		if !p.Expires.IsZero() {
			k.early = min(renewBefore, p.Expires.Sub(now)/10)
		}
		k.filed, k.unsaved = err, err != nil
		if k.vain == 0 {
			k.good()
		}
		if record.UserID == "" || k.vain > 0 {
			k.checkAt = now
		}
	})
	loggerOr(t.Logger).Info("twitch: renewed the token", "expires", p.Expires)
}

// countVain takes note that the token is about to be replaced: it was given in vain where that is so soon after, though it isn't about to expire.
func (k *knownTokens) countVain(now time.Time) {
	if k.record.due(now, 2*k.early) || k.renewed.IsZero() || now.Sub(k.renewed) > 2*k.stayFresh() {
		k.vain = 0
		return
	}
	k.vain++
}

// check asks Twitch whose the token is, and whether it holds. A refusal is noted here only where the token can't be renewed. The caller holds filing.
func (t *Tokens) check(ctx context.Context) error {
	record := t.look().record
	id, err := t.server().validate(ctx, record.Access)
	switch {
	case err == nil:
		t.learn(ctx, record, id)
	case ctx.Err() != nil:
		return ctx.Err()
	case !errors.Is(err, ErrToken):
		t.failed(err)
	case !t.renewable(record.Pair):
		t.refused(err)
	}
	return err
}

// learn takes note of what Twitch tells about the token, in the file too where that is new.
func (t *Tokens) learn(ctx context.Context, record tokenRecord, id Identity) {
	told := record
	told.UserID, told.Login, told.ClientID, told.Scopes = id.UserID, id.Login, id.ClientID, id.Scopes
	if id.ExpiresIn > 0 {
		told.Expires = t.server().after(id.ExpiresIn)
	}
	if told.tellsMoreThan(record) && t.save(ctx, told) {
		return
	}
	t.alter(func(k *knownTokens) {
		k.record = told
		k.good()
		k.checkAt = t.server().after(checkEvery)
	})
}

// tellsMoreThan reports whether a record says what another one doesn't. Twitch tells times in seconds from now, so they differ a little each time.
func (r tokenRecord) tellsMoreThan(than tokenRecord) bool {
	return r.UserID != than.UserID || r.Login != than.Login || r.ClientID != than.ClientID || len(r.Scopes) != len(than.Scopes) ||
		r.Expires.Sub(than.Expires).Abs() > renewBefore
}

// doubted notes that Twitch doesn't take a token that it has just given. It is used all the same: somebody else may take it.
func (t *Tokens) doubted(err error) {
	t.failed(fmt.Errorf("%w; it is new, so chatguard waits before it has it renewed again", err))
	t.alter(func(k *knownTokens) { k.state = TokenUnknown })
}

// good notes that Twitch takes the token.
func (k *knownTokens) good() {
	k.state, k.trouble, k.failures = TokenGood, nil, 0
}

// refused notes that Twitch doesn't take the token, nor renew it.
func (t *Tokens) refused(err error) {
	t.alter(func(k *knownTokens) { k.state, k.trouble = TokenRevoked, err })
}

// failed notes that Twitch couldn't be asked. What was good goes on being that until it expires.
func (t *Tokens) failed(err error) {
	t.alter(func(k *knownTokens) {
		k.retryAt = t.server().after(backoff(k.failures, authMin, authMax))
		k.failures++
		k.trouble = err
		if k.record.due(t.now(), 0) {
			k.state = TokenUnknown
		}
	})
}

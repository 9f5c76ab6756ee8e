package twitch

import (
	"context"
	"errors"
	"time"
)

// lookEvery is how often the file is looked at.
const lookEvery = 2 * time.Second

// Run looks after the token until the context ends: it asks Twitch about it at the start and every hour, renews it before it expires, tries again with
// growing delays while Twitch can't be reached, and takes up what another process stores, within seconds. The error is for a file that can't be read at
// the start.
func (t *Tokens) Run(ctx context.Context) error {
	if err := t.Load(ctx); err != nil {
		return err
	}
	for {
		t.tend(ctx)
		if t.pause(ctx, lookEvery) != nil {
			return nil
		}
	}
}

// Check asks Twitch now whose the token is, for those who can't wait for Run to do it. The Status tells what came of it; the error is Load's, ErrToken,
// ErrUnavailable or the context's.
func (t *Tokens) Check(ctx context.Context) error {
	if err := t.Load(ctx); err != nil {
		return err
	}
	if k := t.look(); k.unusable() != nil {
		return k.unusable()
	}
	t.filing.Lock()
	defer t.filing.Unlock()
	return t.check(ctx)
}

// tend does what is due. What goes wrong is in the status.
func (t *Tokens) tend(ctx context.Context) {
	t.tendFile(ctx)
	k := t.look()
	if k.unusable() != nil || k.failures > 0 && t.now().Before(k.retryAt) {
		return
	}
	// Earlier than Token would, so that nobody has to wait for it.
	if k.record.due(t.now(), 2*k.early) && t.renew(ctx, k.record.Access) != nil {
		return
	}
	if k = t.look(); t.now().Before(k.checkAt) {
		return
	}
	t.filing.Lock()
	err := t.check(ctx)
	t.filing.Unlock()
	switch {
	case !errors.Is(err, ErrToken) || !t.renewable(k.record.Pair):
	case k.vain > 0 && k.isFresh(t.now()):
		t.doubted(err)
	default:
		_ = t.renew(ctx, k.record.Access) // the status tells
	}
}

// tendFile takes up what another process has stored, and tries again to store what couldn't be.
func (t *Tokens) tendFile(ctx context.Context) {
	t.filing.Lock()
	defer t.filing.Unlock()
	if k := t.look(); !t.takeUp() && k.unsaved {
		t.save(ctx, k.record)
	}
}

package token

import (
	"context"
	"errors"
	"time"

	"github.com/chatguard/chatguard/internal/chat/twitch"
)

// reloadEvery is how often the file is read.
const reloadEvery = 2 * time.Second

// Run maintains the token until the context ends. It validates the token at the start and every
// hour, and renews it before it expires. While Twitch can't be reached, it tries again with growing
// delays. If another process stores other tokens, Run loads them within seconds. It returns an
// error if the file can't be read at the start.
func (t *Store) Run(ctx context.Context) error {
	if err := t.Load(ctx); err != nil {
		return err
	}
	for {
		t.maintain(ctx)
		if t.Clock.Sleep(ctx, reloadEvery) != nil {
			return nil
		}
	}
}

// Check asks Twitch now for the token's owner, for callers that can't wait until Run asks. The
// result is in the Status. The error is Load's, ErrToken, ErrUnavailable or the context's.
func (t *Store) Check(ctx context.Context) error {
	if err := t.Load(ctx); err != nil {
		return err
	}
	if k := t.current(); k.unusableError() != nil {
		return k.unusableError()
	}
	t.fileMu.Lock()
	defer t.fileMu.Unlock()
	return t.check(ctx)
}

// maintain does what is due. Its errors are in the status.
func (t *Store) maintain(ctx context.Context) {
	t.maintainFile(ctx)
	k := t.current()
	if k.unusableError() != nil || k.failures > 0 && t.Clock.Now().Before(k.retryAt) {
		return
	}
	// Renew earlier than Token would, so that no caller has to wait for the renewal.
	if k.record.isDue(t.Clock.Now(), 2*k.renewEarly) && t.renew(ctx, k.record.Access) != nil {
		return
	}
	if k = t.current(); t.Clock.Now().Before(k.checkAt) {
		return
	}
	t.fileMu.Lock()
	err := t.check(ctx)
	t.fileMu.Unlock()
	switch {
	case !errors.Is(err, twitch.ErrToken) || !t.isRenewable(k.record.Pair):
	case k.rejectedRenewals > 0 && k.isFresh(t.Clock.Now()):
		t.noteNewRefused(err)
	default:
		_ = t.renew(ctx, k.record.Access) // the status has the error
	}
}

// maintainFile loads what another process has stored, and retries what couldn't be stored.
func (t *Store) maintainFile(ctx context.Context) {
	t.fileMu.Lock()
	defer t.fileMu.Unlock()
	if k := t.current(); !t.reload() && k.unsaved {
		t.save(ctx, k.record)
	}
}

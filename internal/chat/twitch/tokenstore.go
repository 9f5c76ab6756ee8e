package twitch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
)

// store writes a record into the file. The caller holds filing and the file's lock.
func (t *Tokens) store(r tokenRecord) error {
	data, err := t.file().write(r)
	if err != nil {
		return fmt.Errorf("%w; until then the token is kept in memory only", err)
	}
	t.onDisk = data
	return nil
}

// CanStore tells early, in one line with the mend, where tokens couldn't be stored.
func (t *Tokens) CanStore(ctx context.Context) error {
	unlock, err := t.file().lock(ctx)
	if err != nil {
		return err
	}
	return unlock()
}

// save stores a record under the file's lock, unless another process has stored other tokens, which are taken up instead. Whether it could is noted.
// The caller holds filing.
func (t *Tokens) save(ctx context.Context, r tokenRecord) (taken bool) {
	unlock, err := t.file().lock(ctx)
	if err == nil {
		if taken = t.takeUp(); !taken {
			err = t.store(r)
		}
		err = errors.Join(err, unlock())
	}
	if !taken {
		t.alter(func(k *knownTokens) { k.filed, k.unsaved = err, err != nil })
	}
	return taken
}

// takeUp reads the file, and takes its tokens where another process has written others. The caller holds filing.
func (t *Tokens) takeUp() (taken bool) {
	data, record, err := t.file().read()
	if err != nil {
		t.alter(func(k *knownTokens) { k.filed = err })
		return false
	}
	if data == nil || bytes.Equal(data, t.onDisk) {
		return false
	}
	t.onDisk = data
	t.alter(func(k *knownTokens) {
		k.filed, k.unsaved = nil, false
		if taken = record.Access != k.record.Access || record.Refresh != k.record.Refresh; taken {
			t.begin(k, record)
		}
		k.record.Seeds = record.Seeds
	})
	if taken {
		loggerOr(t.Logger).Info("twitch: took up the token that another process has stored", "login", record.Login)
	}
	return taken
}

// Adopt stores the pair that a login has given, in the place of any before, and returns whose it is. A pair is stored even where Twitch can't be asked
// about it; that is the error then.
func (t *Tokens) Adopt(ctx context.Context, p Pair) (Identity, error) {
	t.filing.Lock()
	defer t.filing.Unlock()
	id, asked := t.server().validate(ctx, p.Access)
	record := tokenRecord{Pair: p, UserID: id.UserID, Login: id.Login, Scopes: id.Scopes}
	if errors.Is(asked, ErrToken) {
		return id, asked
	}
	if err := t.supersede(ctx, record); err != nil {
		return id, err
	}
	t.alter(func(k *knownTokens) {
		k.filed, k.unsaved = nil, false
		t.begin(k, record)
		if asked == nil {
			k.good()
			k.checkAt = t.server().after(checkEvery)
		}
	})
	t.loaded.Store(true)
	return id, asked
}

// supersede stores a record that takes the place of the file's and of the environment's.
func (t *Tokens) supersede(ctx context.Context, r tokenRecord) (err error) {
	unlock, err := t.file().lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if _, before, err := t.file().read(); err == nil { // a file that can't be read is replaced
		r.Seeds = before.Seeds
	}
	if t.news(r) {
		r.Seeds = append(slices.Clip(r.Seeds), t.seed())
	}
	return t.store(r)
}

package token

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/chatguard/chatguard/internal/chat/twitch"
)

// Load reads the token file. If the environment's tokens are new to the file, it stores them there.
// Other methods call Load first. Call it early to learn whether there is a token. Its error names
// the unreadable file and the fix.
func (t *Store) Load(ctx context.Context) error {
	if t.loaded.Load() {
		return nil
	}
	t.fileMu.Lock()
	defer t.fileMu.Unlock()
	if t.loaded.Load() {
		return nil
	}
	data, record, err := t.file().read()
	if err != nil {
		return err
	}
	t.onDisk = data
	if t.isEnvironmentNew(record) {
		t.seedFile(ctx)
	} else {
		t.update(func(k *knowledge) { t.reset(k, record) })
	}
	t.loaded.Store(true)
	return nil
}

// seedFile makes the environment's tokens the current ones. The caller holds fileMu.
func (t *Store) seedFile(ctx context.Context) {
	record := record{Pair: t.environment(), Seeds: []string{t.seed()}}
	for t.save(ctx, record) {
		if !t.isEnvironmentNew(t.current().record) {
			return // another process has stored these tokens
		}
	}
	t.update(func(k *knowledge) { t.reset(k, record) })
}

// reset replaces what is known with the content of a record.
func (t *Store) reset(k *knowledge, r record) {
	was := *k
	*k = knowledge{record: r, state: Unknown, since: was.since, clientID: was.clientID, fileTrouble: was.fileTrouble, unsaved: was.unsaved, renewEarly: renewBefore, checkAt: t.Clock.Now()}
	switch {
	case r.Access == "" && r.Refresh == "":
		k.state = Missing
	case was.state == Good && was.record.UserID == r.UserID && !r.isDue(t.Clock.Now(), 0):
		k.state = Good // another process renewed it
	}
}

// environment returns the pair from the environment.
func (t *Store) environment() Pair {
	return Pair{Access: strings.TrimPrefix(t.Access, "oauth:"), Refresh: t.Refresh}
}

// seed returns a hash by which a file remembers the environment's tokens without revealing them. It
// is empty if there are none.
func (t *Store) seed() string {
	if t.Access == "" && t.Refresh == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(t.environment().Access + "\n" + t.Refresh))
	return hex.EncodeToString(sum[:])
}

// isEnvironmentNew reports whether a record doesn't know the environment's tokens yet.
func (t *Store) isEnvironmentNew(r record) bool {
	seed := t.seed()
	return seed != "" && !slices.Contains(r.Seeds, seed)
}

// store writes a record to the file. The caller holds fileMu and the file's lock.
func (t *Store) store(r record) error {
	data, err := t.file().write(r)
	if err != nil {
		return fmt.Errorf("%w; until then the token is kept in memory only", err)
	}
	t.onDisk = data
	return nil
}

// CanStore returns an error if tokens can't be stored, so that a caller learns it early. The error
// is one line with the fix.
func (t *Store) CanStore(ctx context.Context) error {
	unlock, err := t.file().lock(ctx)
	if err != nil {
		return err
	}
	return unlock()
}

// save stores a record under the file's lock. If another process has stored other tokens, save
// loads those instead and returns true. It records a failure in the status. The caller holds
// fileMu.
func (t *Store) save(ctx context.Context, r record) (taken bool) {
	unlock, err := t.file().lock(ctx)
	if err == nil {
		if taken = t.reload(); !taken {
			err = t.store(r)
		}
		err = errors.Join(err, unlock())
	}
	if !taken {
		t.update(func(k *knowledge) { k.fileTrouble, k.unsaved = err, err != nil })
	}
	return taken
}

// reload reads the file and loads its tokens if another process has stored different ones. The
// caller holds fileMu.
func (t *Store) reload() (taken bool) {
	data, record, err := t.file().read()
	if err != nil {
		t.update(func(k *knowledge) { k.fileTrouble = err })
		return false
	}
	if data == nil || bytes.Equal(data, t.onDisk) {
		return false
	}
	t.onDisk = data
	t.update(func(k *knowledge) {
		k.fileTrouble, k.unsaved = nil, false
		if taken = record.Access != k.record.Access || record.Refresh != k.record.Refresh; taken {
			t.reset(k, record)
		}
		k.record.Seeds = record.Seeds
	})
	if taken {
		twitch.LoggerOr(t.Logger).Info("twitch: loaded the token that another process has stored", "login", record.Login)
	}
	return taken
}

// Adopt stores the pair from a login, which replaces any earlier pair, and returns its owner. If
// Twitch refuses the pair, Adopt stores nothing and returns ErrToken. If Twitch can't be asked
// about the pair, Adopt stores it anyway and returns the error.
func (t *Store) Adopt(ctx context.Context, p Pair) (Identity, error) {
	t.fileMu.Lock()
	defer t.fileMu.Unlock()
	id, asked := t.server().validate(ctx, p.Access)
	record := record{Pair: p, UserID: id.UserID, Login: id.Login, Scopes: id.Scopes}
	if errors.Is(asked, twitch.ErrToken) {
		return id, asked
	}
	if err := t.supersede(ctx, record); err != nil {
		return id, err
	}
	t.update(func(k *knowledge) {
		k.fileTrouble, k.unsaved = nil, false
		t.reset(k, record)
		if asked == nil {
			k.markGood()
			k.checkAt = t.server().nowPlus(checkEvery)
		}
	})
	t.loaded.Store(true)
	return id, asked
}

// supersede stores a record that replaces the file's and the environment's tokens.
func (t *Store) supersede(ctx context.Context, r record) (err error) {
	unlock, err := t.file().lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if _, before, err := t.file().read(); err == nil { // an unreadable file is replaced
		r.Seeds = before.Seeds
	}
	if t.isEnvironmentNew(r) {
		r.Seeds = append(slices.Clip(r.Seeds), t.seed())
	}
	return t.store(r)
}

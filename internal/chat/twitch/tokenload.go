package twitch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// Load reads the token file, and puts the environment's tokens into it where they are new to it. Whatever needs the tokens does it first; done on its
// own it tells early whether there is a token, and its error names a file that can't be read, with the mend.
func (t *Tokens) Load(ctx context.Context) error {
	if t.loaded.Load() {
		return nil
	}
	t.filing.Lock()
	defer t.filing.Unlock()
	if t.loaded.Load() {
		return nil
	}
	data, record, err := t.file().read()
	if err != nil {
		return err
	}
	t.onDisk = data
	if t.news(record) {
		t.seedFile(ctx)
	} else {
		t.alter(func(k *knownTokens) { t.begin(k, record) })
	}
	t.loaded.Store(true)
	return nil
}

// seedFile makes the environment's tokens those that hold. The caller holds filing.
func (t *Tokens) seedFile(ctx context.Context) {
	record := tokenRecord{Pair: t.environment(), Seeds: []string{t.seed()}}
	for t.save(ctx, record) {
		if !t.news(t.look().record) {
			return // another process with the same environment was quicker
		}
	}
	t.alter(func(k *knownTokens) { t.begin(k, record) })
}

// begin starts anew with a record.
func (t *Tokens) begin(k *knownTokens, r tokenRecord) {
	was := *k
	*k = knownTokens{record: r, state: TokenUnknown, since: was.since, filed: was.filed, unsaved: was.unsaved, early: renewBefore, checkAt: t.now()}
	switch {
	case r.Access == "" && r.Refresh == "":
		k.state = TokenMissing
	case was.state == TokenGood && was.record.UserID == r.UserID && !r.due(t.now(), 0):
		k.state = TokenGood // another process renewed it
	}
}

// environment is the pair that the environment holds.
func (t *Tokens) environment() Pair {
	return Pair{Access: strings.TrimPrefix(t.Access, "oauth:"), Refresh: t.Refresh}
}

// seed is how a file remembers the environment's tokens without telling them; empty where there are none.
func (t *Tokens) seed() string {
	if t.Access == "" && t.Refresh == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(t.environment().Access + "\n" + t.Refresh))
	return hex.EncodeToString(sum[:])
}

// news reports whether the environment's tokens are new to a record.
func (t *Tokens) news(r tokenRecord) bool {
	seed := t.seed()
	return seed != "" && !slices.Contains(r.Seeds, seed)
}

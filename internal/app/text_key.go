package app

import (
	"context"
	"errors"
	"io/fs"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/textkey"
)

// textKey returns the key of texts: that of all nodes that share a store, or this installation's
// own, which own returns of its file. It is zero if there is none. Then a Guard without a store has
// a random one, and nodes have no limits on repeated text; see node.CheckPolicies.
func textKey(c config.Config, own func(path string) (textkey.Key, error)) (key textkey.Key, err error) {
	switch {
	case c.Shared.HasStore() && c.Shared.TextKey != "":
		return textkey.Derived(string(c.Shared.TextKey)), nil
	case c.Shared.HasStore() || c.NoDatabase:
		return key, nil
	}
	return own(c.TextKeyFile())
}

// openTextKey opens the file with this installation's key of texts.
func (a *App) openTextKey(path string) (textkey.Key, error) {
	key, err := textkey.Open(path)
	if err == nil {
		if err := textkey.Check(path); err != nil {
			a.log.Warn(err.Error())
		}
	}
	return key, err
}

// lacksTextKey reports whether the database is known to have hashes of texts, but their key is
// missing. The next start makes a new one.
func lacksTextKey(ctx context.Context, c config.Config) bool {
	if _, err := textKey(c, textkey.Read); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	has, err := persist.HasOtherTexts(ctx, c.Database, nil)
	return has && err == nil
}

// HasOtherTexts reports whether the database is known to have hashes of texts that are useless with
// the configuration's key of texts.
func HasOtherTexts(ctx context.Context, c config.Config) bool {
	if lacksTextKey(ctx, c) {
		return true
	}
	key, err := textKey(c, textkey.Read)
	if err != nil || key == (textkey.Key{}) {
		return false
	}
	guard, err := chatguard.New(chatguard.DefaultPolicy(), &chatguard.Options{TextKey: key})
	if err != nil {
		return false
	}
	has, err := persist.HasOtherTexts(ctx, c.Database, guard.TextPrint)
	return has && err == nil
}

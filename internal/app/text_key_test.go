package app

import (
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/textkey"
)

// TestTextKey checks whose key an installation uses: nodes that share a store have the same one.
func TestTextKey(t *testing.T) {
	t.Parallel()
	const secret = "the same secret on all nodes"
	c := config.Default()
	c.Database = filepath.Join(t.TempDir(), "chatguard.db")
	var log strings.Builder
	keyOf := func(c config.Config) textkey.Key {
		t.Helper()
		key, err := textKey(c, (&App{log: slog.New(slog.NewTextHandler(&log, nil))}).openTextKey)
		if err != nil {
			t.Fatalf("%x, %v", key, err)
		}
		return key
	}
	own := keyOf(c)
	if own == (textkey.Key{}) {
		t.Fatal("there is no key")
	}
	if log.Len() > 0 {
		t.Errorf("the log says %s", &log)
	}
	if runtime.GOOS != "windows" {
		if err := os.Chmod(c.TextKeyFile(), 0o644); err != nil {
			t.Fatal(err)
		}
		want := "level=WARN msg=\"" + textkey.Check(c.TextKeyFile()).Error()
		if keyOf(c) != own || !strings.Contains(log.String(), want) {
			t.Errorf("the log says %s, want %s", &log, want)
		}
	}
	c.Shared.TextKey = secret
	if keyOf(c) != own {
		t.Error("without a store, the key changes with the nodes' secret")
	}
	for _, mode := range []string{config.ShareExact, config.ShareSynchronised} {
		c.Shared.Mode = mode
		if keyOf(c) != textkey.Derived(secret) {
			t.Errorf("%s: the key isn't that of all nodes", mode)
		}
	}
	c.Shared.TextKey = ""
	if keyOf(c) != (textkey.Key{}) {
		t.Error("a node without the secret has a key that the others haven't")
	}
	c.Shared.Mode, c.NoDatabase = config.ShareOff, true
	if keyOf(c) != (textkey.Key{}) {
		t.Error("without a database, the Guard hasn't a random key")
	}
}

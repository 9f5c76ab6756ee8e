//go:build !race

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/persist"
)

// TestCompletion_Names checks what shells offer: names instead of files. Without a configuration
// they offer nothing.
func TestCompletion_Names(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "chatguard.toml")
	must(t, os.WriteFile(path, []byte("[twitch]\nchannels = [\"gardenhour\", \"rosebed\"]\n[check]\nchannels = [\"lobby\"]\n"), 0o600))
	store, err := persist.Open(t.Context(), dir+"/chatguard.db", nil)
	must(t, err)
	for _, name := range []string{"anna", "berta"} {
		_, err := store.Tokens.NewToken(t.Context(), auth.Identity{Name: name, Access: auth.View}, 0)
		must(t, err)
	}
	must(t, store.Close())
	for line, want := range map[string]string{
		"token revoke -c PATH ":                "anna berta",
		"token revoke -c PATH anna ":           "",
		"policy discard -c PATH ":              "gardenhour lobby rosebed",
		"policy show -c PATH ":                 "gardenhour lobby rosebed",
		"policy show -c PATH teatime ":         "",
		"watch -c PATH gardenhour ":            "lobby rosebed",
		"policy discard -c PATH.missing ":      "",
		"token make anna -c PATH --role view ": "",
	} {
		words := strings.Split(strings.ReplaceAll(line, "PATH", path), " ")
		var out bytes.Buffer
		root := newRootCommand()
		root.SetOut(&out)
		root.SetErr(new(bytes.Buffer))
		root.SetArgs(append([]string{"__complete"}, words...))
		must(t, root.Execute())
		offered, directive, _ := strings.Cut("\n"+out.String(), "\n:")
		names := strings.Fields(offered)
		slices.Sort(names)
		if got := strings.Join(names, " "); got != want || strings.TrimSpace(directive) != "4" {
			t.Errorf("%s: %q, directive %q; want %q and no files", line, got, directive, want)
		}
	}
}

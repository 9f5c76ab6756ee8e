//go:build !race

package main

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/config"
)

// TestRooms_PrintedWithMode checks that rooms are printed with their mode. If a room has its own
// table, the mode comes from that table.
func TestRooms_PrintedWithMode(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.Database, c.Web.Listen = filepath.Join(t.TempDir(), "chatguard.db"), "127.0.0.1:0"
	said := func() string {
		t.Helper()
		a, err := app.Open(t.Context(), app.Options{Config: c, Log: slog.New(slog.DiscardHandler)})
		must(t, err)
		defer a.Close()
		var out strings.Builder
		must(t, printRooms(a, &out))
		return strings.ReplaceAll(out.String(), strings.Trim(strings.TrimPrefix(a.Address(), "http://"), "/"), "ADDRESS")
	}
	own := c.Policy.Clone()
	own.Mode = chatguard.ModeEnforce
	c.Channels = map[string]chatguard.Policy{"attic": own}
	for rooms, want := range map[string]string{
		"":            "",
		"lobby hall":  `Check: observes in lobby, hall (mode = "enforce" throttles); servers ask at http://ADDRESS/api/v1/check` + "\n",
		"lobby attic": `Check: enforces in attic, observes in lobby (mode = "enforce" throttles); servers ask at http://ADDRESS/api/v1/check` + "\n",
	} {
		c.Check.Channels = strings.Fields(rooms)
		if got := said(); got != want {
			t.Errorf("with %q it says %q, want %q", rooms, got, want)
		}
	}
}

package persist

import (
	"context"
	"database/sql"
	"maps"
	"slices"

	"github.com/chatguard/chatguard/internal/persist/statement"
)

// channels are the logins of channels.
type channels struct {
	db      database
	pending pending[string, string] // logins by ID
}

// NoteChannel records a channel's login, so that the next start knows which channel has that name.
// It never blocks.
func (c *channels) NoteChannel(id, login string) {
	_ = c.pending.put(id, &login) // there is no limit
}

// Channels returns the recorded logins of channels, by ID.
func (c *channels) Channels(ctx context.Context) (map[string]string, error) {
	return statement.Map[string](ctx, c.db.Query, "SELECT id, login FROM channel")
}

// writeChannels stores logins by ID. Only one channel has a login at a time, so an earlier owner
// loses it.
func writeChannels(ctx context.Context, tx *sql.Tx, logins map[string]*string) error {
	for _, id := range slices.Sorted(maps.Keys(logins)) {
		if _, err := tx.ExecContext(ctx, "DELETE FROM channel WHERE login = ?", *logins[id]); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO channel (id, login) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET login = excluded.login", id, *logins[id])
		if err != nil {
			return err
		}
	}
	return nil
}

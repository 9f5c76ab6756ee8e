package persist

import (
	"context"
	"database/sql"
	"maps"
	"slices"
)

// NoteChannel keeps a channel's login, so that the next start knows which channel has that name. It never blocks.
func (s *Store) NoteChannel(id, login string) { s.changes.addChannel(id, login) }

// Channels returns the logins of the channels that were noted, by ID.
func (s *Store) Channels(ctx context.Context) (map[string]string, error) {
	rows, err := s.db.reader.QueryContext(ctx, "SELECT id, login FROM channel")
	if err != nil {
		return nil, explain(s.db.path, err)
	}
	defer rows.Close()
	logins := map[string]string{}
	for rows.Next() {
		var id, login string
		if err := rows.Scan(&id, &login); err != nil {
			return nil, explain(s.db.path, err)
		}
		logins[id] = login
	}
	return logins, explain(s.db.path, rows.Err())
}

// writeChannels stores logins by ID. A login is one channel's at a time: whoever had it before is called otherwise now.
func writeChannels(ctx context.Context, tx *sql.Tx, logins map[string]string) error {
	for _, id := range slices.Sorted(maps.Keys(logins)) {
		if _, err := tx.ExecContext(ctx, "DELETE FROM channel WHERE login = ?", logins[id]); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO channel (id, login) VALUES (?, ?) ON CONFLICT DO UPDATE SET login = excluded.login", id, logins[id])
		if err != nil {
			return err
		}
	}
	return nil
}

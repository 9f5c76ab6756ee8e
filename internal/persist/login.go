package persist

import (
	"context"
	"database/sql"
	"errors"
)

// UserByLogin returns the ID of the user who has spoken in the channel under that login, spelt as the platform does, and reports whether
// there is one; of several the one who did last. It looks at how everybody was called when they were last seen, at what isn't rolled up or written
// yet, and at the whole journal.
func (s *Store) UserByLogin(ctx context.Context, channelID, login string) (userID string, ok bool, err error) {
	if userID, ok = s.queue.userByLogin(channelID, login); ok {
		return userID, true, nil
	}
	err = s.db.reader.QueryRowContext(ctx, `
		SELECT user_id FROM (
			SELECT user_id, at FROM `+notRolledUp+` AND login = ?2
			UNION ALL
			SELECT user_id, last_seen FROM person WHERE channel_id = ?1 AND login = ?2 COLLATE NOCASE AND login = ?2
			UNION ALL
			SELECT user_id, at FROM journal WHERE id = (SELECT max(id) FROM journal INDEXED BY journal_user WHERE channel_id = ?1 AND login = ?2))
		ORDER BY at DESC LIMIT 1`, channelID, login).Scan(&userID)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return userID, err == nil, explain(s.db.path, err)
}

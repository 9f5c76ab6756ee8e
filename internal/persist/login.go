package persist

import (
	"context"
	"database/sql"
	"errors"
)

// recentMessages are those of a channel's timeline among which a login is looked for; the timeline has no index for it, which each of its
// messages would pay for.
const recentMessages = 20_000

// UserByLogin returns the ID of the user who has spoken in the channel under that login, spelt as the platform does, and reports whether
// there is one; of several the one who did last. It looks in the channel's last 20,000 messages, those that wait to be written among them,
// and in the whole journal.
func (s *Store) UserByLogin(ctx context.Context, channelID, login string) (userID string, ok bool, err error) {
	if userID, ok = s.queue.userByLogin(channelID, login); ok {
		return userID, true, nil
	}
	err = s.db.reader.QueryRowContext(ctx, `
		SELECT user_id FROM (
			SELECT * FROM (
				SELECT user_id, at FROM (SELECT user_id, login, at FROM timeline WHERE channel_id = ?1 ORDER BY at DESC, number DESC LIMIT ?3)
				WHERE login = ?2 LIMIT 1)
			UNION ALL
			SELECT user_id, at FROM journal WHERE id = (SELECT max(id) FROM journal INDEXED BY journal_user WHERE channel_id = ?1 AND login = ?2))
		ORDER BY at DESC LIMIT 1`, channelID, login, recentMessages).Scan(&userID)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return userID, err == nil, explain(s.db.path, err)
}

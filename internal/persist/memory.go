package persist

import (
	"context"
	"database/sql"
)

// limitMemory deletes the oldest timeline and journal records if a database in memory is too large.
// It deletes the oldest sixteenth of the time that they cover, and repeats this until the database
// is small enough. Messages that it deletes before they are rolled up are never rolled up.
func (s *sweeper) limitMemory(ctx context.Context) error {
	for s.db.InMemory() {
		used, oldest, err := s.memoryUse(ctx)
		if err != nil || used <= s.opts.MaxMemory || !oldest.Valid {
			return err
		}
		until := oldest.Int64 + max(1, (s.opts.Now().UnixNano()-oldest.Int64)/16)
		err = s.db.Write(ctx, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, "DELETE FROM journal WHERE at < ?1; "+timelineChannels+`
				DELETE FROM timeline WHERE (channel_id, at, number) IN (
					SELECT channel_id, at, number FROM channels CROSS JOIN timeline WHERE channel_id = id AND at < ?1)`, until)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// memoryUse returns how many bytes the database takes, and the time of the oldest record of
// timeline and journal. oldest is NULL if there is no record.
func (s *sweeper) memoryUse(ctx context.Context) (used int64, oldest sql.NullInt64, err error) {
	err = s.db.Query(ctx, func(rows *sql.Rows) error { return rows.Scan(&used, &oldest) }, timelineChannels+`
		SELECT (page_count - freelist_count) * page_size, (SELECT min(at) FROM (SELECT min(at) AS at FROM journal
			UNION ALL SELECT (SELECT min(at) FROM timeline WHERE channel_id = id) FROM channels))
		FROM pragma_page_count, pragma_freelist_count, pragma_page_size`)
	return used, oldest, err
}

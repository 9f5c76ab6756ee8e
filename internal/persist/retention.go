package persist

import (
	"context"
	"database/sql"
	"time"
)

const (
	// timelineTime is how long the timeline is kept.
	timelineTime = 48 * time.Hour
	// quarterTime is how long the usage by quarter hours is kept: a week and one more day.
	quarterTime = 8 * 24 * time.Hour
	// DefaultTextRetention is the usual Options.TextRetention.
	DefaultTextRetention = 24 * time.Hour
	// auditTime is how long the audit log is kept. Revisions are kept that long after they were
	// last in force.
	auditTime = 365 * 24 * time.Hour
)

// retired is a statement that deletes up to $2 records of a kind that are older than $1.
type retired struct {
	keep func(o *Options) time.Duration
	rare bool // few records: one check per turn is enough
	// local records expire by this machine's clock, other records by the Guard's.
	local     bool
	statement string
}

var retirement = []retired{
	{func(o *Options) time.Duration { return o.Retention }, false, false, `DELETE FROM journal WHERE id IN (SELECT id FROM journal WHERE at < $1 ORDER BY at LIMIT $2)`},
	// Only rolled-up messages are deleted.
	{func(*Options) time.Duration { return timelineTime }, false, false, `DELETE FROM timeline WHERE (channel_id, at, number) IN (
			SELECT timeline.channel_id, timeline.at, timeline.number FROM rolled_up CROSS JOIN timeline USING (channel_id)
			WHERE (timeline.at, timeline.number) <= (CASE WHEN rolled_up.at < $1 THEN rolled_up.at ELSE $1 - 1 END,
				CASE WHEN rolled_up.at < $1 THEN rolled_up.number ELSE 9223372036854775807 END) LIMIT $2)`},
	// Users with notes stay findable by name.
	{func(o *Options) time.Duration { return o.Retention }, false, false, `WITH RECURSIVE channels (id) AS (
			SELECT min(channel_id) FROM person
			UNION ALL SELECT (SELECT min(channel_id) FROM person WHERE channel_id > id) FROM channels WHERE id IS NOT NULL)
		DELETE FROM person WHERE (channel_id, user_id) IN (
			SELECT channel_id, user_id FROM channels CROSS JOIN person WHERE channel_id = id AND last_seen < $1
				AND NOT EXISTS (SELECT 1 FROM note WHERE note.channel_id = person.channel_id AND note.user_id = person.user_id) LIMIT $2)`},
	{func(*Options) time.Duration { return quarterTime }, false, false, `DELETE FROM quarter_hour WHERE (channel_id, user_id, at) IN (
			SELECT channel_id, user_id, at FROM quarter_hour WHERE at < $1 ORDER BY at LIMIT $2)`},
	{func(o *Options) time.Duration { return o.Retention }, true, false, `DELETE FROM stream WHERE (channel_id, start) IN (
			SELECT channel_id, start FROM stream WHERE seen < $1 ORDER BY seen LIMIT $2)`},
	{func(*Options) time.Duration { return 0 }, true, true, `DELETE FROM token WHERE hash IN (SELECT hash FROM token WHERE expires_at <= $1 LIMIT $2)`},
	{func(*Options) time.Duration { return auditTime }, true, false, `DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE at < $1 ORDER BY at LIMIT $2)`},
	{func(*Options) time.Duration { return auditTime }, true, false, `DELETE FROM revision WHERE (channel_id, number) IN (
		SELECT channel_id, number FROM revision
		JOIN (SELECT channel_id AS id, max(number) AS kept FROM revision WHERE at < $1 GROUP BY channel_id) ON channel_id = id AND number < kept LIMIT $2)`},
}

// retire deletes a batch of each kind of record, and reports whether there may be more to delete.
func (s *sweeper) retire(ctx context.Context, now time.Time, first bool) (more bool, err error) {
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		for _, r := range retirement {
			if r.rare && !first {
				continue
			}
			at := now
			if r.local {
				at = s.opts.Now()
			}
			result, err := tx.ExecContext(ctx, r.statement, at.Add(-r.keep(s.opts)).UnixNano(), sweepStep)
			if err != nil {
				return err
			}
			deleted, err := result.RowsAffected()
			if err != nil {
				return err
			}
			more = more || deleted >= sweepStep
		}
		return nil
	})
	return more, err
}

// limitMemory deletes the oldest timeline and journal records if a database in memory is too large.
// It deletes the oldest sixteenth of the time that they cover, and repeats this until the database
// is small enough. Messages that it deletes before they are rolled up are never rolled up.
func (s *sweeper) limitMemory(ctx context.Context) error {
	for s.used != nil {
		used, err := s.used(ctx)
		if err != nil || used <= s.opts.MaxMemory {
			return err
		}
		var oldest sql.NullInt64 // NULL if there is no record
		err = s.db.Query(ctx, func(rows *sql.Rows) error { return rows.Scan(&oldest) }, timelineChannels+`
			SELECT min(at) FROM (SELECT min(at) AS at FROM journal UNION ALL SELECT (SELECT min(at) FROM timeline WHERE channel_id = id) FROM channels)`)
		if err != nil || !oldest.Valid {
			return err
		}
		until := oldest.Int64 + max(1, (s.opts.Now().UnixNano()-oldest.Int64)/16)
		err = s.db.Write(ctx, func(tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, "DELETE FROM journal WHERE at < $1", until); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, timelineChannels+` DELETE FROM timeline WHERE (channel_id, at, number) IN (
				SELECT channel_id, at, number FROM channels CROSS JOIN timeline WHERE channel_id = id AND at < $1)`, until)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

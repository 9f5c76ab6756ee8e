package persist

import (
	"context"
	"database/sql"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
)

const (
	quarter = 15 * time.Minute
	// maxCost is what a message counts at most, so that no sum overflows.
	maxCost = 1<<31 - 1
)

const quarterColumns = "channel_id, user_id, at, spent"

var quarterInsertion = insertion{into: "quarter_hour (" + quarterColumns + ")", columns: 4, conflict: "DO UPDATE SET spent = spent + excluded.spent"}

// quarterOf is the beginning of the quarter of an hour that a time is in.
func quarterOf(at time.Time) int64 { return at.Truncate(quarter).UnixNano() }

// QuarterHours returns what a user's messages have spent, by quarters of an hour, the oldest first, from the one that holds since; those without any are
// left out. What waits to be written is among it.
func (s *Store) QuarterHours(ctx context.Context, channelID, userID string, since time.Time) (quarters []journal.QuarterHour, err error) {
	waiting := s.queue.spoken(func(m *timelineRow) bool { return m.UserID == userID && m.ChannelID == channelID })
	// One statement sees everything at one moment. What waited before may be stored by then.
	err = s.db.query(ctx, func(rows *sql.Rows) error {
		var at int64
		var q journal.QuarterHour
		err := rows.Scan(&at, &q.Spent)
		q.At = timeAt(at)
		quarters = append(quarters, q)
		return err
	}, `SELECT quarter, sum(spent) FROM (
			SELECT at AS quarter, spent FROM quarter_hour WHERE channel_id = ?1 AND user_id = ?2 AND at >= ?3
			UNION ALL SELECT at - at % ?4, min(cost, ?5) - min(unspent, ?5) FROM `+notRolledUp+` AND user_id = ?2
			UNION ALL SELECT value ->> 0, value ->> 3 FROM json_each(?6)
				WHERE NOT EXISTS (SELECT 1 FROM timeline WHERE channel_id = ?1 AND at = value ->> 1 AND number = value ->> 2))
		WHERE quarter >= ?3 GROUP BY quarter HAVING sum(spent) > 0 ORDER BY quarter`,
		channelID, userID, quarterOf(since), int64(quarter), maxCost, placesOf(waiting, quarter))
	return quarters, err
}

// placesOf lists of each message the beginning of the span of time that it is in, its time, its number and what it spent, in JSON.
func placesOf(rows []timelineRow, span time.Duration) string {
	places := make([][4]int64, len(rows))
	for i := range rows {
		r := &rows[i]
		places[i] = [4]int64{r.At.Truncate(span).UnixNano(), r.At.UnixNano(), r.number, r.spent()}
	}
	return jsonOf(places)
}

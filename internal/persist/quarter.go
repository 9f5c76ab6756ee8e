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

const quarterColumns = "channel_id, user_id, at, cost"

var quarterInsertion = insertion{into: "quarter_hour (" + quarterColumns + ")", columns: 4, conflict: "DO UPDATE SET cost = cost + excluded.cost"}

// quarterOf is the beginning of the quarter of an hour that a time is in.
func quarterOf(at time.Time) int64 { return at.Truncate(quarter).UnixNano() }

// QuarterHours returns what a user's messages have cost that were allowed, by quarters of an hour, the oldest first, from the one that holds since;
// those without any are left out. What waits to be written is among it. What was said was allowed, but for what the journal says was throttled.
func (s *Store) QuarterHours(ctx context.Context, channelID, userID string, since time.Time) (quarters []journal.QuarterHour, err error) {
	said, throttled := s.queue.costs(channelID, userID)
	// One statement sees everything at one moment. What waited before may be stored by then.
	err = s.db.query(ctx, func(rows *sql.Rows) error {
		var at int64
		var q journal.QuarterHour
		err := rows.Scan(&at, &q.Allowed)
		q.At = timeAt(at)
		quarters = append(quarters, q)
		return err
	}, `SELECT quarter, sum(cost) FROM (
			SELECT at AS quarter, cost FROM quarter_hour WHERE channel_id = ?1 AND user_id = ?2 AND at >= ?3
			UNION ALL SELECT at - at % ?4, min(cost, ?5) FROM `+notRolledUp+` AND user_id = ?2
			UNION ALL SELECT value ->> 0, value ->> 3 FROM json_each(?6)
				WHERE NOT EXISTS (SELECT 1 FROM timeline WHERE channel_id = ?1 AND at = value ->> 1 AND number = value ->> 2)
			UNION ALL SELECT at - at % ?4, -min(cost, ?5) FROM journal WHERE channel_id = ?1 AND user_id = ?2 AND at >= ?3 AND outcome_result <> 'observed'
			UNION ALL SELECT value ->> 0, -(value ->> 2) FROM json_each(?7) WHERE NOT EXISTS (SELECT 1 FROM journal WHERE id = value ->> 1))
		WHERE quarter >= ?3 GROUP BY quarter HAVING sum(cost) > 0 ORDER BY quarter`,
		channelID, userID, quarterOf(since), int64(quarter), maxCost, said, throttled)
	return quarters, err
}

// costs returns what a user has said and what of it was throttled, as far as it waits, as lists in JSON: the first as placesOf, the other of quarter, ID
// and cost.
func (q *queue) costs(channelID, userID string) (said, throttled string) {
	spoken := q.spoken(func(m *timelineRow) bool { return m.UserID == userID && m.ChannelID == channelID })
	waiting, _ := q.entries(func(e *journal.Entry) bool {
		return e.UserID == userID && e.ChannelID == channelID && e.Outcome.Result != journal.Observed
	})
	entries := make([][3]int64, len(waiting))
	for i, e := range waiting {
		entries[i] = [3]int64{quarterOf(e.At), int64(e.ID), int64(min(e.Cost, maxCost))}
	}
	return placesOf(spoken, quarter), jsonOf(entries)
}

// placesOf lists of each message the beginning of the span of time that it is in, its time, its number and its cost, in JSON.
func placesOf(rows []timelineRow, span time.Duration) string {
	places := make([][4]int64, len(rows))
	for i, r := range rows {
		places[i] = [4]int64{r.At.Truncate(span).UnixNano(), r.At.UnixNano(), r.number, int64(min(r.Cost, maxCost))}
	}
	return jsonOf(places)
}

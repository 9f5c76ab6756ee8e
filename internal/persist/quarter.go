package persist

import (
	"context"
	"database/sql"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist/statement"
)

// Quarter is the period for which a user's usage is summed.
const Quarter = 15 * time.Minute

const quarterColumns = "channel_id, user_id, at, spent"

var quarterInsertion = statement.Insertion{Into: "quarter_hour (" + quarterColumns + ")", Columns: 4, Conflict: "(channel_id, user_id, at) DO UPDATE SET spent = quarter_hour.spent + excluded.spent"}

// quarterOf returns the start of the quarter of an hour that contains a time.
func quarterOf(at time.Time) int64 { return at.Truncate(Quarter).UnixNano() }

// QuarterHours returns the usage of a user's messages by quarter hours, oldest first, starting with
// the quarter that contains since. Without a user ID it returns the usage of everyone together, and
// without a channel ID the usage in all channels. It omits quarters without usage, and includes
// pending messages.
func (s *timelineTable) QuarterHours(ctx context.Context, channelID, userID string, since time.Time) ([]journal.QuarterHour, error) {
	waiting := s.queue.matchingMessages(func(m *timelineRow) bool {
		return (userID == "" || m.UserID == userID) && (channelID == "" || m.ChannelID == channelID)
	})
	// A single statement sees one state of the database. It skips messages that were pending but
	// are stored by now.
	return statement.List(ctx, s.db.Query, func(rows *sql.Rows, q *journal.QuarterHour) error {
		return rows.Scan(statement.Time(&q.At), &q.Spent)
	}, quarterHours(channelID, userID), channelID, userID, quarterOf(since), int64(Quarter), maxCost, placesOf(waiting, Quarter))
}

// quarterHours returns the statement of QuarterHours for channel $1 and user $2. An empty ID
// selects all channels or all users.
func quarterHours(channelID, userID string) string {
	channels, ofChannel, ofUser := timelineChannels, "", ""
	if channelID != "" {
		channels, ofChannel = "WITH channels (id) AS (VALUES ($1))", " AND channel_id = $1"
	}
	if userID != "" {
		ofUser = " AND user_id = $2"
	}
	// The plus sign avoids the index of times, which would look up almost every row of the table.
	return channels + `
		SELECT quarter, sum(spent) FROM (
			SELECT at AS quarter, spent FROM quarter_hour WHERE true` + ofChannel + ofUser + `
			UNION ALL SELECT timeline.at - timeline.at % $4, CASE WHEN cost < $5 THEN cost ELSE $5 END - CASE WHEN unspent < $5 THEN unspent ELSE $5 END FROM ` + channelsNotRolledUp + ofUser + `
			UNION ALL SELECT value ->> 0, value ->> 3 FROM json_each($6) WHERE NOT EXISTS (
				SELECT 1 FROM channels CROSS JOIN timeline WHERE channel_id = id AND at = value ->> 1 AND number = value ->> 2))
		WHERE +quarter >= $3 GROUP BY quarter HAVING sum(spent) > 0 ORDER BY quarter`
}

// placesOf returns a JSON list. For each message it has the start of the span that contains the
// message, the message's time and number, what the message spent, and 1 if it was of low priority.
func placesOf(rows []timelineRow, span time.Duration) string {
	places := make([][5]int64, len(rows))
	for i := range rows {
		r := &rows[i]
		places[i] = [5]int64{r.At.Truncate(span).UnixNano(), r.At.UnixNano(), r.number, r.spentCost()}
		if r.low {
			places[i][4] = 1
		}
	}
	return jsonOf(places)
}

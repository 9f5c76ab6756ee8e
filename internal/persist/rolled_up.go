package persist

import (
	"context"
	"database/sql"
	"errors"
	"sort"

	"github.com/chatguard/chatguard/internal/persist/statement"
)

// notRolledUp selects the messages of channel $1 that are not rolled up.
const notRolledUp = `timeline WHERE channel_id = $1 AND (at, number) > (
	coalesce((SELECT at FROM rolled_up WHERE channel_id = $1), -9223372036854775808), coalesce((SELECT number FROM rolled_up WHERE channel_id = $1), 0))`

// timelineChannels defines a table, channels, with the IDs of the timeline's channels and a NULL
// row. It doesn't read every message.
const timelineChannels = `WITH RECURSIVE channels (id) AS (
	SELECT min(channel_id) FROM timeline
	UNION ALL SELECT (SELECT min(channel_id) FROM timeline WHERE channel_id > id) FROM channels WHERE id IS NOT NULL)`

// channelsNotRolledUp selects the messages of the table channels that are not rolled up.
const channelsNotRolledUp = `channels LEFT JOIN rolled_up ON rolled_up.channel_id = id CROSS JOIN timeline
	WHERE timeline.channel_id = id
		AND (timeline.at, timeline.number) > (coalesce(rolled_up.at, -9223372036854775808), coalesce(rolled_up.number, 0))`

const rolledUpColumns = "channel_id, at, number"

var rolledUpInsertion = statement.Insertion{
	Into:     "rolled_up (" + rolledUpColumns + ")",
	Columns:  3,
	Conflict: "(channel_id) DO UPDATE SET at = excluded.at, number = excluded.number",
}

// countRolledUp returns how many of the rows are at or before the position up to which their
// channel is rolled up. The rows must be of one channel and in table order.
func countRolledUp(ctx context.Context, tx *sql.Tx, rows []timelineRow) (n int, err error) {
	var at, number int64
	err = tx.QueryRowContext(ctx, "SELECT at, number FROM rolled_up WHERE channel_id = ?", rows[0].ChannelID).Scan(&at, &number)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return sort.Search(len(rows), func(i int) bool { return rows[i].compareTo(at, number) > 0 }), err
}

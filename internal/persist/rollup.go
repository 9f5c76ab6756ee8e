package persist

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist/statement"
)

// Run rolls up the timeline in the background: it stores, by user, the data that is kept longer
// than the timeline. Without this, the timeline would need another index, with an entry for each
// message. Run also stores the position of each channel's last rolled-up message. All messages up
// to that position are rolled up, and no later ones.

const (
	// rollAge is the minimum age of messages that are rolled up. Few messages arrive later than
	// that, because the code that receives them corrects their times.
	rollAge = time.Minute
	// rollStep is the maximum number of messages that one transaction rolls up, so that no caller
	// waits long for it.
	rollStep = 5 * sweepStep
)

// notRolledUp selects the messages of channel ?1 that are not rolled up.
const notRolledUp = `timeline WHERE channel_id = ?1 AND (at, number) > (
	ifnull((SELECT at FROM rolled_up WHERE channel_id = ?1), -9223372036854775808), ifnull((SELECT number FROM rolled_up WHERE channel_id = ?1), 0))`

// timelineChannels defines a table, channels, with the IDs of the timeline's channels and a NULL
// row. It doesn't read every message.
const timelineChannels = `WITH RECURSIVE channels (id) AS (
	SELECT min(channel_id) FROM timeline
	UNION ALL SELECT (SELECT min(channel_id) FROM timeline WHERE channel_id > id) FROM channels WHERE id IS NOT NULL)`

// channelsNotRolledUp selects the messages of the table channels that are not rolled up.
const channelsNotRolledUp = `channels LEFT JOIN rolled_up ON rolled_up.channel_id = id CROSS JOIN timeline
	WHERE timeline.channel_id = id
		AND (timeline.at, timeline.number) > (ifnull(rolled_up.at, -9223372036854775808), ifnull(rolled_up.number, 0))`

const rolledUpColumns = "channel_id, at, number"

var rolledUpInsertion = statement.Insertion{
	Into:     "rolled_up (" + rolledUpColumns + ")",
	Columns:  3,
	Conflict: "DO UPDATE SET at = excluded.at, number = excluded.number",
}

// rollUp rolls up one step of the timeline, and reports whether there may be more. Only Run writes
// the timeline, so the messages that rollUp has read don't change.
func (s *sweeper) rollUp(ctx context.Context, now time.Time) (more bool, err error) {
	rows, err := queryTimeline(ctx, s.db, timelineChannels+`
		SELECT timeline.channel_id, timeline.at, timeline.number, user_id, login, roles, cost, unspent, display_name, low, kind
		FROM `+channelsNotRolledUp+` AND timeline.at < ?1
		LIMIT ?2`, now.Add(-rollAge).UnixNano(), rollStep)
	if err != nil || len(rows) == 0 {
		return false, err
	}
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		if err := writeRollup(ctx, tx, rows); err != nil {
			return err
		}
		last := lastOfChannels(rows)
		return rolledUpInsertion.Write(ctx, tx, len(last), func(args []any, i int) []any {
			return append(args, last[i].ChannelID, last[i].At.UnixNano(), last[i].number)
		})
	})
	return len(rows) == rollStep, err
}

// lastOfChannels returns the last row of each channel; rows must be in table order.
func lastOfChannels(rows []timelineRow) (last []*timelineRow) {
	for i := range rows {
		if i+1 == len(rows) || rows[i+1].ChannelID != rows[i].ChannelID {
			last = append(last, &rows[i])
		}
	}
	return last
}

// writeRollup stores the data that is kept longer than the rows themselves. The rows must be in
// table order.
func writeRollup(ctx context.Context, tx *sql.Tx, rows []timelineRow) error {
	people, quarters := map[personKey]journal.Person{}, map[quarterKey]int64{}
	for i := range rows {
		r := &rows[i]
		key := personKey{r.ChannelID, r.UserID}
		people[key] = personOf(r)
		if spent := r.spentCost(); spent > 0 {
			quarters[quarterKey{key, quarterOf(r.At)}] += spent
		}
	}
	if err := writePeople(ctx, tx, people); err != nil {
		return err
	}
	return writeQuarters(ctx, tx, quarters)
}

// writePeople stores the people in table order.
func writePeople(ctx context.Context, tx *sql.Tx, people map[personKey]journal.Person) error {
	keys := slices.SortedFunc(maps.Keys(people), personKey.compare)
	return personInsertion.Write(ctx, tx, len(keys), func(args []any, i int) []any { return personValues(args, keys[i].channelID, people[keys[i]]) })
}

// writeQuarters adds the usage of each quarter, in table order.
func writeQuarters(ctx context.Context, tx *sql.Tx, spent map[quarterKey]int64) error {
	keys := slices.SortedFunc(maps.Keys(spent), quarterKey.compare)
	return quarterInsertion.Write(ctx, tx, len(keys), func(args []any, i int) []any {
		return append(args, keys[i].channelID, keys[i].userID, keys[i].at, spent[keys[i]])
	})
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

// personKey identifies a user of a channel.
type personKey struct{ channelID, userID string }

func (k personKey) compare(other personKey) int {
	return cmp.Or(strings.Compare(k.channelID, other.channelID), strings.Compare(k.userID, other.userID))
}

// quarterKey identifies a quarter hour of a user of a channel. at is the quarter's start.
type quarterKey struct {
	personKey
	at int64
}

func (k quarterKey) compare(other quarterKey) int {
	return cmp.Or(k.personKey.compare(other.personKey), cmp.Compare(k.at, other.at))
}

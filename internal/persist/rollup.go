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
)

// The timeline is rolled up behind: what outlives it is kept by user, which would cost each message an index of its own. Of every channel the
// place of the last message that is rolled up is stored with that; all before it are, and none after it.

const (
	// rollAge is how old messages are when they are rolled up: few come later than that, because the live edge corrects their times.
	rollAge = time.Minute
	// rollStep is how many messages one transaction rolls up at most, so that nobody waits for it.
	rollStep = 5 * sweepStep
)

// notRolledUp are the messages of channel ?1 after the place up to which they are.
const notRolledUp = `timeline WHERE channel_id = ?1 AND (at, number) > (
	ifnull((SELECT at FROM rolled_up WHERE channel_id = ?1), -9223372036854775808), ifnull((SELECT number FROM rolled_up WHERE channel_id = ?1), 0))`

// timelineChannels makes a table of the channels that the timeline has, and a NULL, without looking at every message.
const timelineChannels = `WITH RECURSIVE channels (id) AS (
	SELECT min(channel_id) FROM timeline
	UNION ALL SELECT (SELECT min(channel_id) FROM timeline WHERE channel_id > id) FROM channels WHERE id IS NOT NULL)`

const rolledUpColumns = "channel_id, at, number"

var rolledUpInsertion = insertion{
	into:     "rolled_up (" + rolledUpColumns + ")",
	columns:  3,
	conflict: "DO UPDATE SET at = excluded.at, number = excluded.number",
}

// rollUp rolls a step of the timeline up, and reports whether there may be more. Only Run writes the timeline, and so what is read stays as it is.
func (s *Store) rollUp(ctx context.Context, now time.Time) (more bool, err error) {
	rows, err := s.queryTimeline(ctx, timelineChannels+`
		SELECT timeline.channel_id, timeline.at, timeline.number, user_id, login, roles, cost, unspent
		FROM channels LEFT JOIN rolled_up ON rolled_up.channel_id = id CROSS JOIN timeline
		WHERE timeline.channel_id = id AND timeline.at < ?1
			AND (timeline.at, timeline.number) > (ifnull(rolled_up.at, -9223372036854775808), ifnull(rolled_up.number, 0))
		LIMIT ?2`, now.Add(-rollAge).UnixNano(), rollStep)
	if err != nil || len(rows) == 0 {
		return false, err
	}
	err = s.db.write(ctx, func(tx *sql.Tx) error {
		if err := writeRollup(ctx, tx, rows); err != nil {
			return err
		}
		last := lastOfChannels(rows)
		return rolledUpInsertion.write(ctx, tx, len(last), func(args []any, i int) []any {
			return append(args, last[i].ChannelID, last[i].At.UnixNano(), last[i].number)
		})
	})
	return len(rows) == rollStep, err
}

// lastOfChannels returns the last row of each channel, of rows in the order of the table.
func lastOfChannels(rows []timelineRow) (last []*timelineRow) {
	for i := range rows {
		if i+1 == len(rows) || rows[i+1].ChannelID != rows[i].ChannelID {
			last = append(last, &rows[i])
		}
	}
	return last
}

// writeRollup stores what outlives the rows, which are in the order of the table.
func writeRollup(ctx context.Context, tx *sql.Tx, rows []timelineRow) error {
	people, quarters := map[personKey]journal.Person{}, map[quarterKey]int64{}
	for i := range rows {
		r := &rows[i]
		key := personKey{r.ChannelID, r.UserID}
		people[key] = personOf(&r.Spoken)
		if spent := r.spent(); spent > 0 {
			quarters[quarterKey{key, quarterOf(r.At)}] += spent
		}
	}
	if err := writePeople(ctx, tx, people); err != nil {
		return err
	}
	return writeQuarters(ctx, tx, quarters)
}

// writePeople stores them in the order of the table.
func writePeople(ctx context.Context, tx *sql.Tx, people map[personKey]journal.Person) error {
	keys := slices.SortedFunc(maps.Keys(people), personKey.compare)
	return personInsertion.write(ctx, tx, len(keys), func(args []any, i int) []any { return personValues(args, keys[i].channelID, people[keys[i]]) })
}

// writeQuarters adds what was spent in them, in the order of the table.
func writeQuarters(ctx context.Context, tx *sql.Tx, spent map[quarterKey]int64) error {
	keys := slices.SortedFunc(maps.Keys(spent), quarterKey.compare)
	return quarterInsertion.write(ctx, tx, len(keys), func(args []any, i int) []any {
		return append(args, keys[i].channelID, keys[i].userID, keys[i].at, spent[keys[i]])
	})
}

// rolledUpTo returns how many of a channel's rows, which are in the order of the table, are not after the place up to which it is rolled up.
func rolledUpTo(ctx context.Context, tx *sql.Tx, rows []timelineRow) (n int, err error) {
	var at, number int64
	err = tx.QueryRowContext(ctx, "SELECT at, number FROM rolled_up WHERE channel_id = ?", rows[0].ChannelID).Scan(&at, &number)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return sort.Search(len(rows), func(i int) bool { return rows[i].compareTo(at, number) > 0 }), err
}

// personKey is a user of a channel.
type personKey struct{ channelID, userID string }

func (k personKey) compare(other personKey) int {
	return cmp.Or(strings.Compare(k.channelID, other.channelID), strings.Compare(k.userID, other.userID))
}

// quarterKey is a quarter of an hour of such a user, by its beginning.
type quarterKey struct {
	personKey
	at int64
}

func (k quarterKey) compare(other quarterKey) int {
	return cmp.Or(k.personKey.compare(other.personKey), cmp.Compare(k.at, other.at))
}

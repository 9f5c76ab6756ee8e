package persist

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/internal/persist/statement"
)

// Minutes calls the function each for every minute of every channel, oldest first, with the
// messages sent at or after since and before until. It includes pending records and omits minutes
// without messages. The first minute is complete, even if since is within it. If the function
// returns an error, or the context ends, Minutes stops and returns that error.
func (s *timelineTable) Minutes(ctx context.Context, since, until time.Time, each func(journal.Minute) error) error {
	c := minuteCount{db: s.db, since: since.Truncate(time.Minute), until: until, minutes: map[minuteKey]*journal.Minute{}}
	// Read pending messages first, so that none is missed if it is stored in between.
	spoken := s.queue.matchingMessages(func(m *timelineRow) bool { return c.includes(m.At) })
	throttled, _, _ := s.queue.entries(func(e *journal.Entry) bool { return c.includes(e.At) })
	if err := c.addMessages(ctx, spoken); err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	if err := c.addThrottled(ctx, throttled); err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	for _, key := range slices.SortedFunc(maps.Keys(c.minutes), minuteKey.compare) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := each(*c.minutes[key]); err != nil {
			return err
		}
	}
	return nil
}

// minuteKey identifies a minute of a channel. at is the minute's start in nanoseconds.
type minuteKey struct {
	at        int64
	channelID string
}

func (k minuteKey) compare(other minuteKey) int {
	return cmp.Or(cmp.Compare(k.at, other.at), strings.Compare(k.channelID, other.channelID))
}

// minuteCount counts messages and entries by minute.
type minuteCount struct {
	db           database
	since, until time.Time
	minutes      map[minuteKey]*journal.Minute
}

func (c *minuteCount) includes(at time.Time) bool { return !at.Before(c.since) && at.Before(c.until) }

func (c *minuteCount) minute(channelID string, at int64) *journal.Minute {
	key := minuteKey{at, channelID}
	m := c.minutes[key]
	if m == nil {
		m = &journal.Minute{ChannelID: channelID, At: statement.TimeAt(at)}
		c.minutes[key] = m
	}
	return m
}

// addMessages counts messages of the timeline, including pending ones.
func (c *minuteCount) addMessages(ctx context.Context, waiting []timelineRow) error {
	stored, err := statement.Texts(ctx, c.db.Query, timelineChannels+" SELECT id FROM channels WHERE id IS NOT NULL")
	if err != nil {
		return err
	}
	channels := map[string][]timelineRow{}
	for _, id := range stored {
		channels[id] = nil
	}
	for _, m := range waiting {
		channels[m.ChannelID] = append(channels[m.ChannelID], m)
	}
	for id, waiting := range channels {
		if err := c.addChannel(ctx, id, placesOf(waiting, time.Minute)); err != nil {
			return err
		}
	}
	return nil
}

// addChannel counts a channel's messages in the timeline, and pending messages that aren't stored
// by now.
func (c *minuteCount) addChannel(ctx context.Context, channelID, waiting string) error {
	return c.db.Query(ctx, func(rows *sql.Rows) error {
		var at int64
		var messages, low uint32
		err := rows.Scan(&at, &messages, &low)
		m := c.minute(channelID, at)
		m.Messages, m.Low = m.Messages+messages, m.Low+low
		return err
	}, `SELECT minute, sum(messages), sum(low) FROM (
			SELECT at - at % $3 AS minute, count(*) AS messages, sum(low) AS low FROM timeline WHERE channel_id = $1 AND at >= $2 AND at < $5 GROUP BY minute
			UNION ALL SELECT value ->> 0, 1, value ->> 4 FROM json_each($4)
				WHERE NOT EXISTS (SELECT 1 FROM timeline WHERE channel_id = $1 AND at = value ->> 1 AND number = value ->> 2))
		GROUP BY minute`, channelID, c.since.UnixNano(), int64(time.Minute), waiting, c.until.UnixNano())
}

// addThrottled counts the entries of the journal, including pending ones.
func (c *minuteCount) addThrottled(ctx context.Context, waiting []journal.Entry) error {
	ids := make([]chatguard.EntryID, len(waiting))
	for i, e := range waiting {
		ids[i] = e.ID
		m := c.minute(e.ChannelID, e.At.Truncate(time.Minute).UnixNano())
		m.Throttled++
		if e.Outcome.Result == journal.Observed {
			m.Observed++
		}
	}
	return c.db.Query(ctx, func(rows *sql.Rows) error {
		var channelID string
		var at int64
		var throttled, observed uint32
		err := rows.Scan(&channelID, &at, &throttled, &observed)
		m := c.minute(channelID, at)
		m.Throttled, m.Observed = m.Throttled+throttled, m.Observed+observed
		return err
	}, `SELECT channel_id, at - at % $2 AS minute, count(*), count(CASE WHEN outcome_result = 'observed' THEN 1 END) FROM `+journalByTime+`
		WHERE at >= $1 AND at < $4 AND id NOT IN `+sqlite.List("$3")+` GROUP BY +channel_id, minute`, c.since.UnixNano(), int64(time.Minute), jsonOf(ids), c.until.UnixNano())
}

package persist

import (
	"cmp"
	"context"
	"database/sql/driver"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist/statement"
	"github.com/chatguard/chatguard/internal/roles"
)

// timelineTable is the timeline of messages, and the summaries of it that are kept for longer.
type timelineTable struct {
	db    database
	queue *queue
}

// timelineBatch is the maximum number of timeline messages in a batch.
const timelineBatch = 5000

// Timeline passes a channel's messages since a time to visit, in batches and in the order of their
// times. It includes pending messages. The function visit must not keep its argument. If it returns
// an error, or the context ends, Timeline stops and returns that error. Timeline reads the next
// messages while visit runs.
func (s *timelineTable) Timeline(ctx context.Context, channelID string, since time.Time, visit func([]journal.TimelineMessage) error) error {
	// Read pending messages first, so that none is missed if it is stored in between.
	waiting := s.queue.matchingMessages(func(m *timelineRow) bool { return m.ChannelID == channelID && !m.At.Before(since) })
	sortTimeline(waiting)
	working, stop := context.WithCancel(ctx)
	defer stop()
	feed := newTimelineFeed(working)
	var reading errgroup.Group
	reading.Go(func() error {
		defer close(feed.full)
		return s.read(channelID, since, waiting, feed)
	})
	failed := feed.drain(visit)
	stop()
	err := reading.Wait()
	return cmp.Or(failed, ctx.Err(), err)
}

// splitNames are sets of names by their stored texts. Few sets occur, and often.
type splitNames[T ~string] map[string][]T

func (s splitNames[T]) of(text string) []T {
	names, ok := s[text]
	if !ok {
		names = statement.SplitNames[[]T](text)
		s[strings.Clone(text)] = names
	}
	return names
}

// read adds the stored messages to feed, and the pending messages at their positions in the order.
// It omits pending messages that are stored by now.
func (s *timelineTable) read(channelID string, since time.Time, waiting []timelineRow, feed *timelineFeed) error {
	const query = `SELECT at, number, user_id, login, roles, cost, kinds, print FROM timeline WHERE channel_id = ? AND at >= ? ORDER BY at, number`
	known, kinds := splitNames[chatguard.Role]{}, splitNames[string]{}
	err := s.db.EachRow(feed.ctx, 8, query, []any{channelID, since.UnixNano()}, func(row []driver.Value) error {
		at, number := row[0].(int64), row[1].(int64)
		m := journal.TimelineMessage{
			At: statement.TimeAt(at), ChannelID: channelID, UserID: row[2].(string), Login: row[3].(string), Roles: known.of(row[4].(string)), Cost: int(row[5].(int64)),
			MessageKinds: roles.Kinds(kinds.of(row[6].(string))), Print: s.queue.texts.read(row[7]),
		}
		for ; len(waiting) > 0 && waiting[0].compareTo(at, number) < 0; waiting = waiting[1:] {
			if err := feed.add(&waiting[0].TimelineMessage); err != nil {
				return err
			}
		}
		if len(waiting) > 0 && waiting[0].compareTo(at, number) == 0 {
			waiting = waiting[1:]
		}
		return feed.add(&m)
	})
	if err != nil {
		return err
	}
	for i := range waiting {
		if err := feed.add(&waiting[i].TimelineMessage); err != nil {
			return err
		}
	}
	return feed.send()
}

// timelineFeed passes messages in batches. It reuses a few batches.
type timelineFeed struct {
	ctx   context.Context
	batch []journal.TimelineMessage // batch being filled; nil if empty
	full  chan []journal.TimelineMessage
	empty chan []journal.TimelineMessage
}

func newTimelineFeed(ctx context.Context) *timelineFeed {
	f := &timelineFeed{ctx: ctx, full: make(chan []journal.TimelineMessage, 1), empty: make(chan []journal.TimelineMessage, 3)}
	for range cap(f.empty) {
		f.empty <- make([]journal.TimelineMessage, 0, timelineBatch)
	}
	return f
}

// add adds a message to the batch. If the context ends, it returns the context's error.
func (f *timelineFeed) add(m *journal.TimelineMessage) error {
	if f.batch == nil {
		select {
		case f.batch = <-f.empty:
		case <-f.ctx.Done():
			return f.ctx.Err()
		}
	}
	if f.batch = append(f.batch, *m); len(f.batch) == cap(f.batch) {
		return f.send()
	}
	return nil
}

// send passes the current batch to drain.
func (f *timelineFeed) send() error {
	if f.batch == nil {
		return nil
	}
	select {
	case f.full <- f.batch:
		f.batch = nil
		return nil
	case <-f.ctx.Done():
		return f.ctx.Err()
	}
}

// drain passes the batches to visit until there are no more, or the context ends.
func (f *timelineFeed) drain(visit func([]journal.TimelineMessage) error) error {
	for batch := range f.full {
		if err := f.ctx.Err(); err != nil {
			return err
		}
		if err := visit(batch); err != nil {
			return err
		}
		f.empty <- batch[:0]
	}
	return nil
}

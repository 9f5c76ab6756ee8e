package persist

import (
	"cmp"
	"context"
	"database/sql/driver"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// spokenBatch is how many messages of the timeline are handed over at a time.
const spokenBatch = 5000

// Timeline calls each with a channel's messages since a time, in the order in which they were judged, many at once, those that wait to be written
// among them. What each is given it may not keep. It ends early with each's error, or the context's. While each works, the next are read.
func (s *Store) Timeline(ctx context.Context, channelID string, since time.Time, each func([]journal.Spoken) error) error {
	// First what waits, because what is stored next is missing then in neither.
	waiting := s.queue.spoken(func(m *timelineRow) bool { return m.ChannelID == channelID && !m.At.Before(since) })
	sortTimeline(waiting)
	working, stop := context.WithCancel(ctx)
	defer stop()
	feed := newSpokenFeed(working)
	var reading errgroup.Group
	reading.Go(func() error {
		defer close(feed.full)
		return s.readTimeline(channelID, since, waiting, feed)
	})
	failed := feed.drain(each)
	stop()
	err := reading.Wait()
	return cmp.Or(failed, ctx.Err(), explain(s.db.path, err))
}

// readTimeline feeds what is stored, and what waits in its place, unless that is stored by now.
func (s *Store) readTimeline(channelID string, since time.Time, waiting []timelineRow, feed *spokenFeed) error {
	const query = `SELECT at, number, user_id, login, roles, cost FROM timeline WHERE channel_id = ? AND at >= ? ORDER BY at, number`
	err := s.db.eachRow(feed.ctx, 6, query, []any{channelID, since.UnixNano()}, func(row []driver.Value) error {
		at, number := row[0].(int64), row[1].(int64)
		m := journal.Spoken{
			At: timeAt(at), ChannelID: channelID, UserID: row[2].(string), Login: row[3].(string), Roles: chatguard.Roles(row[4].(int64)), Cost: int(row[5].(int64)),
		}
		for ; len(waiting) > 0 && waiting[0].compareTo(at, number) < 0; waiting = waiting[1:] {
			if err := feed.add(&waiting[0].Spoken); err != nil {
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
		if err := feed.add(&waiting[i].Spoken); err != nil {
			return err
		}
	}
	return feed.send()
}

// spokenFeed hands messages over in batches, a few of which are used again and again.
type spokenFeed struct {
	ctx   context.Context
	batch []journal.Spoken // that is being filled; nil until there is something for it
	full  chan []journal.Spoken
	empty chan []journal.Spoken
}

func newSpokenFeed(ctx context.Context) *spokenFeed {
	f := &spokenFeed{ctx: ctx, full: make(chan []journal.Spoken, 1), empty: make(chan []journal.Spoken, 3)}
	for range cap(f.empty) {
		f.empty <- make([]journal.Spoken, 0, spokenBatch)
	}
	return f
}

// add returns the context's error when that ends.
func (f *spokenFeed) add(m *journal.Spoken) error {
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

// send hands over what there is.
func (f *spokenFeed) send() error {
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

// drain calls each with the batches until there are no more, or the context ends.
func (f *spokenFeed) drain(each func([]journal.Spoken) error) error {
	for batch := range f.full {
		if err := f.ctx.Err(); err != nil {
			return err
		}
		if err := each(batch); err != nil {
			return err
		}
		f.empty <- batch[:0]
	}
	return nil
}

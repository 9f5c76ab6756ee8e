package persist

import (
	"context"
	"database/sql"

	"github.com/chatguard/chatguard"
)

// collect takes everything that is pending. The parts are written in reverse: users are deleted
// last, so that nothing of them comes after.
func (s *Store) collect(guard *chatguard.Guard) (parts []part) {
	f := &s.figures
	parts = append(parts, s.forgettings.part(), s.interruptedPart())
	// Take people's changes first, then the state that depends on them. Take deliveries before
	// their webhooks, so that none is stored without its webhook.
	revisions, audits := s.changes.parts()
	parts = append(parts, revisions.countedBy(f.revisions), audits.countedBy(f.audits),
		s.channels.pending.part(writeChannels), s.settings.pending.part(writeSettings), s.streams.pending.part(writeStreams),
		s.notebook.pending.part(writeNotes), s.webhooks.deliveries.part(writeDeliveries), s.webhooks.hooks.part(writeWebhooks))
	timeline, entries := s.queue.parts()
	return append(parts, timeline.countedBy(f.timeline), entries.countedBy(f.journal), statePart(guard).countedBy(f.state))
}

// interruptedPart returns the outcomes of the earlier process's entries as a part of a flush.
func (s *Store) interruptedPart() part {
	last := s.interrupted
	return part{
		rows:  int(min(last, 1)), // nothing is written for 0 rows
		write: func(ctx context.Context, tx *sql.Tx) error { return writeInterrupted(ctx, tx, last, s.opts.Now()) },
		done: func(_ context.Context, isStored bool) {
			if isStored {
				s.interrupted = 0
			}
		},
	}
}

// parts takes the records as parts of a flush.
func (q *queue) parts() (timeline, journal part) {
	r := q.take()
	timeline = part{
		rows:  len(r.timeline),
		write: func(ctx context.Context, tx *sql.Tx) error { return writeTimeline(ctx, tx, r.timeline) },
		done:  func(context.Context, bool) {}, // the journal's done handles both
	}
	journal = part{
		rows:  len(r.entries) + len(r.outcomes),
		write: func(ctx context.Context, tx *sql.Tx) error { return writeEntries(ctx, tx, &r) },
		done: func(_ context.Context, isStored bool) {
			if isStored {
				q.confirm()
			} else {
				q.putBack(r)
			}
		},
	}
	return timeline, journal
}

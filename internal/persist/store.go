// Package persist keeps in one SQLite file what must survive the process: usage, overrides and
// grants of users, the journal, the timeline, notes, policy revisions, the audit log, webhooks and
// sign-ins. [Store.Run] writes all of it in the background. A person who makes a change gets the
// answer after the commit. While the database is failing, chat continues in memory, changes are
// pending, and [Store.Health] reports the failure.
//
// The package knows no platform and no HTTP, and doesn't interpret a user's state: it stores the
// Guard's bytes.
//
// Each resource is a type with its own statements and pending rows, and uses only three methods of
// its database: Query, EachRow and Write. A flush writes the pending rows of all resources in one
// transaction. The engine is package sqlite. Another one has to provide:
//   - these three methods with database/sql's rows and transactions, LookUp for package signin, and
//     errors that name the problem and the fix;
//   - migrations of its own, which make the same tables;
//   - for Run: Recover before each flush and IsTouched between two, CheckAtEnd, Rescue, Compact
//     after users were deleted, and which errors are temporary;
//   - List and IndexedBy; "?" as a placeholder besides "$1";
//   - features of SQLite that a few statements use: json_each with ->> for pending messages and
//     pardons, COLLATE NOCASE, instr and char in the search for people, and the plus before a
//     column that keeps a query off an index.
package persist

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist/signin"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/internal/watchdog"
)

// Store is a database and its only owner. It is safe for concurrent use. Get one from Open.
//
// The order of calls is Open, Restore, Run, Close.
type Store struct {
	Tokens *signin.Tokens // sign-ins: tokens, codes and sessions

	// The resources. Their exported methods are the Store's, too.
	*journalTable
	*timelineTable
	*people
	*notebook
	*changes
	*channels
	*settings
	*streams
	*webhooks
	*forgettings
	*commits

	db       *sqlite.DB
	opts     Options
	queue    queue
	health   healthRecord
	flushing watchdog.Work
	figures  figures

	restored atomic.Bool
	// interrupted is the last entry of the earlier process. Nothing will act on pending entries up
	// to it. It is 0 once their outcome is written. Only Restore and Run use it.
	interrupted chatguard.EntryID
	// lastLook is for how long the pages are checked before a clean end.
	lastLook time.Duration
	// lost is why Run ends early: another process owns the database. Only Run uses it, until it
	// closes isLost.
	lost    error
	isLost  chan struct{}
	sweeper *sweeper // only Run uses it
}

// Path returns the database's path, absolute and without symbolic links, as used for its lock file.
// It is empty for a database in memory.
func (s *Store) Path() string {
	if s.db.InMemory() {
		return ""
	}
	return s.db.Path
}

// Size returns the number of bytes that the database has on disk, including its write-ahead log. It
// is 0 for a database in memory.
func (s *Store) Size() int64 { return s.db.Size() }

// Close closes the database and releases its ownership. Call it after Run has returned. Changes
// that Run hasn't written are lost.
func (s *Store) Close() error { return s.db.Close() }

// RecordTexts makes the timeline record prints of texts from now on, and read those that print has
// made with the same key. Call it before the first message. Without it, or if Options.TextRetention
// is 0, the timeline has no prints.
func (s *Store) RecordTexts(print func(text string) chatguard.TextPrint) {
	if s.opts.TextRetention > 0 {
		s.queue.texts = newTexts(print)
	}
}

// RecordRepeats makes the journal record what repeats returns of the entries from now on. Call it
// before the first message.
func (s *Store) RecordRepeats(repeats func(chatguard.EntryID) journal.Repeats) {
	s.queue.repeats = repeats
}

// Observe queues a message for the timeline. If the message was throttled or observed, it also
// queues the journal entry. It has the signature of chatguard.Options.Observer, never blocks and
// never accesses the disk. When the queue is full, Observe drops the oldest messages of the
// timeline from the channel with the most pending messages. If that isn't enough, it drops the
// oldest records of the journal. It counts the dropped records of both kinds.
func (s *Store) Observe(m chatguard.Message, v chatguard.Verdict) { s.queue.observe(&m, &v) }

// Report queues the outcome of an entry. The entry itself may be queued or stored. A later outcome
// of the same entry replaces an earlier one. Like Observe, it never blocks and never accesses the
// disk.
func (s *Store) Report(o journal.Outcome) { s.queue.report(o) }

// Health returns the current state of the store. It never waits for the disk.
func (s *Store) Health() Health {
	h := s.health.read(s.opts.Now())
	h.Waiting, h.Dropped = s.queue.state()
	return h
}

// recoverFile repairs the database's files if somebody has touched them. Only Run calls it.
func (s *Store) recoverFile(ctx context.Context, guard *chatguard.Guard) error {
	found, err := s.db.Recover(ctx)
	if found.Repaired != "" {
		s.figures.errors.Inc()
		s.opts.Logger.Error(found.Repaired, slog.String("database", s.db.Path))
	}
	if errors.As(err, new(*sqlite.OwnedError)) {
		s.lost = err
	}
	if found.IsOther {
		guard.State().DirtyAll()
	}
	return err
}

// lastLook is for how long a database is checked before a clean end. A large one is checked only in
// part.
const lastLook = 2 * time.Second

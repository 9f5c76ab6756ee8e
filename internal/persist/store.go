// Package persist keeps in one SQLite file what has to outlive the process: what users have spent, the journal, policy revisions and
// sign-ins. State and journal are written behind, by [Store.Run]; what a person changes is written before it is answered. While the
// database is in trouble chat goes on in memory, and [Store.Health] says so.
//
// The package knows no platform, no HTTP and no meaning of a user's state: it keeps the Guard's bytes.
package persist

import (
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// Options are what a Store may be given. A nil *Options is the same as the zero value.
type Options struct {
	Logger        *slog.Logger     // nil means slog.Default()
	FlushInterval time.Duration    // from the start of one flush to the start of the next; 0 means 1 s
	Retention     time.Duration    // how long journal entries are kept; 0 means 30 days
	QueueSize     int              // journal entries, and outcomes, that wait for a flush before the oldest are dropped; 0 means 100,000
	Now           func() time.Time // nil means time.Now
}

// withDefaults returns a copy in which every field has its value.
func (o *Options) withDefaults() Options {
	var full Options
	if o != nil {
		full = *o
	}
	if full.Logger == nil {
		full.Logger = slog.Default()
	}
	if full.FlushInterval == 0 {
		full.FlushInterval = time.Second
	}
	if full.Retention == 0 {
		full.Retention = 30 * 24 * time.Hour
	}
	if full.QueueSize == 0 {
		full.QueueSize = 100_000
	}
	if full.Now == nil {
		full.Now = time.Now
	}
	return full
}

// Store is a database and its only owner. It is safe for concurrent use; get one from Open.
//
// The order of calls is Open, Restore, Run, Close. The sign-in methods are those of Tokens.
type Store struct {
	*Tokens
	opts   Options
	lock   *ownerLock
	queue  queue
	health healthRecord

	restored    atomic.Bool
	interrupted chatguard.EntryID // entries up to this one that are pending will never be acted on; 0 when that is written. Restore and Run only
	sweepAt     time.Time         // when to look for expired records again. Run only
}

// Close closes the database and gives up its ownership. Call it after Run has returned; what Run hasn't written is lost.
func (s *Store) Close() error {
	return errors.Join(s.Tokens.Close(), s.lock.release())
}

// Observe queues the journal entry of a throttled or observed message; every other verdict costs nothing here. It has the form of
// chatguard.Options.Observer: it never blocks and never touches the disk. When the queue is full, its oldest entry is dropped and counted.
func (s *Store) Observe(m chatguard.Message, v chatguard.Verdict) {
	if v.EntryID == 0 {
		return
	}
	e := journal.NewEntry(m, v)
	s.queue.addEntry(&e)
}

// Report queues the outcome of an entry, whether that is queued or stored. Later outcomes of the same entry replace earlier ones. Like
// Observe, it never blocks and never touches the disk.
func (s *Store) Report(o journal.Outcome) { s.queue.addOutcome(o) }

// Package persist keeps in one SQLite file what has to outlive the process: what users have spent and were given, the journal, the timeline,
// policy revisions, the audit and sign-ins. All of it is written behind, by [Store.Run]; what a person changes is answered after its commit.
// While the database is in trouble chat goes on in memory, what changes waits, and [Store.Health] says so.
//
// The package knows no platform, no HTTP and no meaning of a user's state: it keeps the Guard's bytes.
package persist

import (
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// Options are what a Store may be given. A nil *Options is the same as the zero value.
type Options struct {
	Logger        *slog.Logger     // nil means slog.Default()
	FlushInterval time.Duration    // from the start of one flush to the start of the next; 0 means 1 s
	Retention     time.Duration    // how long journal entries are kept; 0 means 30 days
	QueueSize     int              // records of timeline and journal that wait for a flush before some are dropped; 0 means 100,000
	MaxMemory     int64            // bytes that a database in memory may take before the oldest of timeline and journal make room; 0 means 256 MiB
	Now           func() time.Time // nil means time.Now
	Metrics       *metrics.Set     // gets the store's figures; nil means that nobody reads them
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
	if full.MaxMemory == 0 {
		full.MaxMemory = 256 << 20
	}
	if full.Now == nil {
		full.Now = time.Now
	}
	if full.Metrics == nil {
		full.Metrics = metrics.NewSet()
	}
	return full
}

// Store is a database and its only owner. It is safe for concurrent use; get one from Open.
//
// The order of calls is Open, Restore, Run, Close. The sign-in methods are those of Tokens.
type Store struct {
	*Tokens
	opts    Options
	lock    *ownerLock // nil for a database in memory
	queue   queue
	changes changes
	commits *commits
	health  healthRecord
	figures figures

	restored    atomic.Bool
	interrupted chatguard.EntryID // entries up to this one that are pending will never be acted on; 0 when that is written. Restore and Run only
	damaged     bool              // a damaged page was met, and the file hasn't been whole since. Run only
	misplaced   bool              // the file wasn't in its place at the last turn. Run only
	sweeper     sweeper           // Run only
}

// Path is the database's, absolute and without symbolic links, as its lock file is named by; empty for one in memory.
func (s *Store) Path() string {
	if s.lock == nil {
		return ""
	}
	return s.db.path
}

// Close closes the database and gives up its ownership. Call it after Run has returned; what Run hasn't written is lost.
func (s *Store) Close() error {
	err := s.Tokens.Close()
	if s.lock != nil {
		err = errors.Join(err, s.lock.release())
	}
	return err
}

// Observe queues a message for the timeline, and the journal entry of one that was throttled or observed. It has the form of
// chatguard.Options.Observer: it never blocks and never touches the disk. When the queue is full, the oldest of the timeline makes room, of
// the channel that has the most waiting; then the oldest of the journal. Both are counted.
func (s *Store) Observe(m chatguard.Message, v chatguard.Verdict) { s.queue.observe(&m, &v) }

// Report queues the outcome of an entry, whether that is queued or stored. Later outcomes of the same entry replace earlier ones. Like
// Observe, it never blocks and never touches the disk.
func (s *Store) Report(o journal.Outcome) { s.queue.report(o) }

// Package persist keeps in one SQLite file what must survive the process: usage, overrides and
// grants of users, the journal, the timeline, policy revisions, the audit log and sign-ins.
// [Store.Run] writes all of it in the background. A person who makes a change gets the answer after
// the commit. While the database is failing, chat continues in memory, changes are pending, and
// [Store.Health] reports the failure.
//
// The package knows no platform and no HTTP, and doesn't interpret a user's state: it stores the
// Guard's bytes.
package persist

import (
	"cmp"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist/signin"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/internal/watchdog"
)

// Options are the optional settings of a Store. A nil *Options is the same as the zero value.
type Options struct {
	Logger *slog.Logger // nil means slog.Default()
	// FlushInterval is the time from the start of one flush to the start of the next. 0 means 1 s.
	FlushInterval time.Duration
	Retention     time.Duration // lifetime of journal entries; 0: 30 days
	// QueueSize is the maximum number of pending records of timeline and journal; beyond it,
	// records are dropped. 0 means 100,000.
	QueueSize int
	// MaxMemory is the maximum number of bytes of a database in memory; beyond it, the oldest
	// records of timeline and journal are deleted. 0 means 256 MiB.
	MaxMemory int64
	Now       func() time.Time // nil means time.Now
	Metrics   *metrics.Set     // gets the store's metrics; nil means none
}

// withDefaults returns a copy with defaults in place of zero fields.
func (o *Options) withDefaults() Options {
	var full Options
	if o != nil {
		full = *o
	}
	full.Logger = cmp.Or(full.Logger, slog.Default())
	full.FlushInterval = cmp.Or(full.FlushInterval, time.Second)
	full.Retention = cmp.Or(full.Retention, 30*24*time.Hour)
	full.QueueSize = cmp.Or(full.QueueSize, 100_000)
	full.MaxMemory = cmp.Or(full.MaxMemory, 256<<20)
	if full.Now == nil {
		full.Now = time.Now
	}
	full.Metrics = cmp.Or(full.Metrics, metrics.NewSet())
	return full
}

// Store is a database and its only owner. It is safe for concurrent use. Get one from Open.
//
// The order of calls is Open, Restore, Run, Close.
type Store struct {
	Tokens *signin.Tokens // sign-ins: tokens, codes and sessions

	db       *sqlite.DB
	opts     Options
	queue    queue
	changes  changeQueue
	notes    notebook
	webhooks webhookQueue
	commits  *commits
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

// Size returns the number of bytes that the database has on disk, including its log. It is 0 for a
// database in memory.
func (s *Store) Size() int64 { return s.db.Size() }

// Close closes the database and releases its ownership. Call it after Run has returned. Changes
// that Run hasn't written are lost.
func (s *Store) Close() error { return s.db.Close() }

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

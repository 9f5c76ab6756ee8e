// Package sqlitestore stores in one SQLite file what a Guard inside a chat server must remember
// after the process ends: usage and grants of users, throttled messages, who wrote when, and
// people's changes in the dashboard.
//
//	guard, err := chatguard.New(policy, nil)
//	store, err := sqlitestore.Open(ctx, "chat.db", nil)
//	_, err = store.Restore(ctx, guard) // before the first message
//	go store.Run(ctx)                  // until nobody judges messages any more
//	err = store.Close()                // after Run has returned
//
// At shutdown, first let the server finish its requests and connections, and the dashboard's Run
// return. Then end Run's context, wait for Run, and call Close. A crash at any moment loses at most
// what happened since the last flush, about a second.
//
// While the file can't be written (disk full, locked by another program, damaged), chat continues
// in memory: the Guard's verdicts are Degraded, [Store.Health] reports why, and writing resumes
// automatically.
//
// The command uses the same file format: if a configuration names the file as its database,
// `chatguard backup` and `chatguard export` can read it while the server runs. Throttled messages
// are stored with their text, for the time in Options.Retention. For other messages, only the
// author and the time are stored, for 48 hours.
package sqlitestore

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/host"
	"github.com/chatguard/chatguard/internal/persist"
)

// Options are the optional settings of a Store. A nil *Options is the same as the zero value.
type Options struct {
	// Logger receives problems with the file and what was found at start. Nil means slog.Default().
	Logger *slog.Logger
	// FlushInterval is the time from the start of one write to the start of the next. A crash loses
	// about as much. 0 means 1 s.
	FlushInterval time.Duration
	// Retention is how long the Store keeps throttled messages with their text. 0 means 30 days.
	Retention time.Duration
}

// Store is an open database, owned by this process, for one Guard. It is safe for concurrent use
// once Restore has returned. Create one with Open.
type Store struct{ inner *host.Host }

// Open opens the database at path and owns it until Close. It creates a missing database and
// migrates an older one. It refuses a file that is damaged, of a newer version, from another
// program, or owned by another process, and leaves the file unchanged. The error is one line that
// names the file and the fix.
func Open(ctx context.Context, path string, opts *Options) (*Store, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	for name, length := range map[string]time.Duration{"FlushInterval": o.FlushInterval, "Retention": o.Retention} {
		if length < 0 {
			return nil, fmt.Errorf("sqlitestore: %s is %s: set it to 0 for the default, or higher", name, length)
		}
	}
	inner, err := host.Open(ctx, path, persist.Options{Logger: o.Logger, FlushInterval: o.FlushInterval, Retention: o.Retention})
	if err != nil {
		return nil, err
	}
	return &Store{inner}, nil
}

// Restored is the result of Restore.
type Restored struct {
	Rows int // restored rows; each is for a user and limit
	// Unreadable is how many rows couldn't be read and start fresh; the log names the first.
	Unreadable int
}

// Restore loads the stored state into a Guard, and from then on records each of the Guard's
// verdicts. It first applies the policy changes that people made in the dashboard to the Guard's
// policies. It then restores users' usage and grants, and finally pauses. A throttled message is
// recorded as dropped, because a server drops such a message.
//
// Call Restore once, before the first message. Call it after every SetPolicy of channels with their
// own limits, because it skips usage of limits that a policy doesn't have. If the program sets a
// channel's policy later, that policy replaces people's changes in the channel until the next
// start. If people have changed a channel and then reset it to the program's policy, that policy
// becomes the channel's own. SetPolicy for all channels then doesn't change it until the next
// start. After an error the Guard may be partly restored: end the program, or judge without the
// Store.
func (s *Store) Restore(ctx context.Context, guard *chatguard.Guard) (Restored, error) {
	if err := s.inner.Join(guard, host.Options{}); err != nil {
		return Restored{}, err
	}
	stats, err := s.inner.Restore(ctx)
	return Restored{Rows: stats.Rows, Unreadable: stats.Unreadable}, err
}

// Run writes in the background until ctx ends, then writes everything once more. If another program
// keeps the file locked, that last write waits up to 10 s. The error says what is lost; earlier
// problems don't end Run. Call Run once, after Restore, and end ctx after the last message is
// judged.
func (s *Store) Run(ctx context.Context) error { return s.inner.Run(ctx) }

// Close closes the file and releases its ownership. Call it once, after Run has returned. Changes
// that Run hasn't written are lost.
func (s *Store) Close() error { return s.inner.Close() }

// Inner is for package dashboard only. It is not covered by the compatibility promise.
func (s *Store) Inner() *host.Host { return s.inner }

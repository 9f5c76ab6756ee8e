// Package sqlitestore stores in one SQLite file what a Guard inside a chat server must remember
// after the process ends: usage and grants of users, throttled messages, who wrote when, and
// people's changes in the dashboard.
//
//	guard, err := chatguard.New(policy, nil)
//	store, err := sqlitestore.Open(ctx, "chat.db", guard, nil) // before the first message
//	go store.Run(background) // until no more messages are judged
//	err = store.Close()      // after Run has returned
//
// With a dashboard, call [github.com/chatguard/chatguard/dashboard.Dashboard.Run] instead of
// [Store.Run]: it runs the Store, too. At shutdown, first let the server finish its requests and
// connections. Then end Run's context, wait for Run, and call [Store.Close]. A crash at any moment
// loses at most what happened since the last flush, about a second.
//
// While the file can't be written (disk full, locked by another program, damaged), chat continues
// in memory: the Guard's verdicts are Degraded, [Store.Health] reports why, and writing resumes
// automatically.
//
// The command uses the same file format: if a configuration names the file as its database,
// `chatguard backup` and `chatguard export` can read it while the server runs. Throttled messages
// are stored with their text, for the time in Options.Retention. For other messages, only the
// author and the time are stored, for 48 hours, and a hash of the text with the Guard's
// Options.TextKey, for 24 hours. The key isn't stored.
package sqlitestore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
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
	// the changes made in about that time. 0 means 1 s.
	FlushInterval time.Duration
	// Retention is how long the Store keeps throttled messages with their text. 0 means 30 days.
	Retention time.Duration
}

// Store is an open database, owned by this process, for one Guard. It is safe for concurrent use.
// Create one with Open. A type that embeds a *Store can be the dashboard's Store.
type Store struct {
	handle   // for package dashboard
	host     *host.Host
	restored Restored
	ran      atomic.Bool // Run was called
}

// handle is not exported, so that Store exports no field.
type handle = host.Handle

// Restored is what Open has restored. It is the zero value for a new database.
type Restored struct {
	Rows int // restored rows; each is for a user and limit
	// Unreadable is how many rows couldn't be read and start fresh; the log names the first.
	Unreadable int
}

// Open opens the database at path, restores the Guard's state from it, and from then on records
// each of the Guard's verdicts. It owns the database until Close. A nil opts is the same as the
// zero Options.
//
// Call Open before the first message and after SetChannelPolicy for every channel with its own
// limits, because it skips usage of limits that a policy doesn't have. Open first applies the
// policy changes that people made in the dashboard to the Guard's policies. It then restores users'
// usage and grants, and finally the pauses of channels. It records a throttled message as dropped,
// because a server drops such a message.
//
// If the program sets a channel's policy later, that policy replaces people's changes in the
// channel until the next start. If people have changed a channel and then reset it to the program's
// policy, that policy becomes the channel's own. SetPolicy for all channels then doesn't change it
// until the next start.
//
// Open creates a missing database and migrates an older one. It refuses a file that is damaged, of
// a newer version, from another program, or owned by another process, and leaves the file
// unchanged. The error is one line that names the file and the fix. After an error the Guard may be
// partly restored: to continue without a Store, create another Guard.
func Open(ctx context.Context, path string, guard *chatguard.Guard, opts *Options) (*Store, error) {
	o := cmp.Or(opts, &Options{})
	if guard == nil {
		return nil, errors.New("sqlitestore: the Guard is missing: create one with chatguard.New")
	}
	for name, length := range map[string]time.Duration{"FlushInterval": o.FlushInterval, "Retention": o.Retention} {
		if length < 0 {
			return nil, fmt.Errorf("sqlitestore: %s is %s: set it to 0 for the default, or higher", name, length)
		}
	}
	h, err := host.Open(ctx, path, persist.Options{Logger: o.Logger, FlushInterval: o.FlushInterval, Retention: o.Retention, TextRetention: persist.DefaultTextRetention})
	if err != nil {
		return nil, prefixed(err)
	}
	s := &Store{handle: host.NewHandle(h), host: h}
	if err := s.restore(ctx, guard); err != nil {
		return nil, prefixed(errors.Join(err, h.Close()))
	}
	return s, nil
}

func (s *Store) restore(ctx context.Context, guard *chatguard.Guard) error {
	if err := s.host.Join(guard, host.Options{}); err != nil {
		return err
	}
	stats, err := s.host.Restore(ctx)
	s.restored = Restored{Rows: stats.Rows, Unreadable: stats.Unreadable}
	return err
}

// Restored returns what Open has restored.
func (s *Store) Restored() Restored { return s.restored }

// Run writes in the background until ctx ends, then writes everything pending once more and
// returns. End ctx after the last message is judged. If another program keeps the file locked, that
// last write waits up to 10 s. The error says what is lost; earlier problems don't end Run, see
// [Store.Health]. If somebody deletes the lock file, and another process then opens the file, the
// Store stops writing, and Health and the error say so.
//
// A Dashboard's Run calls this Run for its Options.Store. Several calls of Run are harmless, at the
// same time or one after another: the Store writes while any of them runs, and the last one to end
// writes what is pending. The others return nil.
func (s *Store) Run(ctx context.Context) error {
	s.ran.Store(true)
	return prefixed(s.host.Run(ctx))
}

// Close closes the file and releases its ownership. Call it once, after Run has returned. Changes
// that Run hasn't written are lost. If Run was never called, Close writes them itself.
func (s *Store) Close() error {
	var err error
	if !s.ran.Swap(true) {
		ended, end := context.WithCancel(context.Background())
		end()
		err = s.host.Run(ended)
	}
	return prefixed(errors.Join(err, s.host.Close()))
}

// prefixed returns an error that begins with the package's name.
func prefixed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("sqlitestore: %w", err)
}

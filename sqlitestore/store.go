// Package sqlitestore keeps in one SQLite file what a Guard inside a chat server has to remember beyond the process: what users have spent and
// were given, throttled messages, who spoke when, and what people change in the dashboard.
//
//	guard, err := chatguard.New(policy, nil)
//	store, err := sqlitestore.Open(ctx, "chat.db", nil)
//	_, err = store.Restore(ctx, guard) // before the first message
//	go store.Run(ctx)                  // until nobody judges messages any more
//	err = store.Close()                // after Run has returned
//
// At the end, first let the server finish its requests and connections, and the dashboard's Run return; then end Run's context, wait for Run, and
// Close. After a crash at any moment, at most what happened since the last flush is lost, about a second.
//
// While the file can't be written (disk full, locked by another program, damaged) chat goes on in memory; the Guard's verdicts are Degraded,
// [Store.Health] says why, and writing resumes by itself.
//
// The file is the command's: where a configuration names it as its database, `chatguard backup` and `chatguard export` read it beside the running
// server. Throttled messages are kept with their text, for as long as Options.Retention says; of the others only who spoke when, for 48 hours.
package sqlitestore

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/embedded"
	"github.com/chatguard/chatguard/internal/persist"
)

// Options are what a Store may be given. A nil *Options is the same as the zero value.
type Options struct {
	Logger        *slog.Logger  // of trouble with the file, and of what the start finds; nil means slog.Default()
	FlushInterval time.Duration // from the start of one write to the start of the next, and so about what a crash loses; 0 means 1 s
	Retention     time.Duration // how long throttled messages are kept, with their text; 0 means 30 days
}

// Store is a database and its only owner, for one Guard. It is safe for concurrent use once Restore has returned; get one from Open.
type Store struct{ inner *embedded.Store }

// Open opens the database at path, makes it where there is none, brings an older one up to date, and owns it until Close. The error is one line that
// names the file and the mend: a file that is damaged, of a newer version, or another program's is refused and stays as it is, and so is one that
// another process owns.
func Open(ctx context.Context, path string, opts *Options) (*Store, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	for name, length := range map[string]time.Duration{"FlushInterval": o.FlushInterval, "Retention": o.Retention} {
		if length < 0 {
			return nil, fmt.Errorf("sqlitestore: %s is %s: set it to 0 for the default, or to more", name, length)
		}
	}
	inner, err := embedded.Open(ctx, path, persist.Options{Logger: o.Logger, FlushInterval: o.FlushInterval, Retention: o.Retention})
	if err != nil {
		return nil, err
	}
	return &Store{inner}, nil
}

// Restored is what Restore found.
type Restored struct {
	Rows       int // how many users' states in a limit were taken back
	Unreadable int // how many couldn't be read, and start fresh; the log names the first
}

// Restore makes a Guard go on where the last process ended, and from then on notes each of its verdicts: what people changed of policies in the
// dashboard comes into force over those that the Guard has, then what users have spent and were given, then what was paused. A throttled message is
// noted as dropped, because that is what a server does about it.
//
// Call it once, after every SetPolicy of channels with limits of their own (what was spent in limits that a policy doesn't have is passed over) and
// before the first message. A policy that the program sets later replaces what people had changed in that channel, until the next start. A channel
// that people have changed, and then put back to what the program says, has that as its own: until the next start, SetPolicy for all channels changes
// it no more. After an error the Guard may have a part: give up, or judge without the Store.
func (s *Store) Restore(ctx context.Context, guard *chatguard.Guard) (Restored, error) {
	stats, err := s.inner.Restore(ctx, guard)
	return Restored{Rows: stats.Rows, Unreadable: stats.Unreadable}, err
}

// Run writes behind until ctx ends, then writes everything once more, for which it waits up to 10 s where another program keeps the file locked. The
// error says what is lost; trouble before that doesn't end it. Call it once, after Restore, and end ctx when nobody judges messages any more.
func (s *Store) Run(ctx context.Context) error { return s.inner.Run(ctx) }

// Close closes the file and gives up its ownership. Call it once, after Run has returned; what Run hasn't written is lost.
func (s *Store) Close() error { return s.inner.Close() }

// Inner is for package dashboard. Nobody else can do anything with it, and it is no part of what versions promise.
func (s *Store) Inner() *embedded.Store { return s.inner }

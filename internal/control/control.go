// Package control is what moderators change while chat runs, whichever way they ask for it: pause, raid mode, and what single users are given
// or forgiven. Every change is put in force in the Guard first, then noted in the audit, and answered once that is stored.
//
// It knows neither the chat nor the dashboard nor the store: what it needs of them are the funcs and the small interface below.
package control

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/clock"
	"github.com/chatguard/chatguard/internal/journal"
)

// Options are the parts of Controls. Those without a default are required.
type Options struct {
	Guard *chatguard.Guard
	Store Store

	// Revise changes a channel's policy by what edit makes of the present one, keeps that as a revision, and puts it in force. saved is false
	// where it would not outlive the process yet. An error of edit comes back as it is, and nothing is changed.
	Revise func(ctx context.Context, channelID, author string, edit func(chatguard.Policy) (chatguard.Policy, error)) (saved bool, err error)

	// UserID returns the ID of the user with this login; ErrNoUser where there is none.
	UserID func(ctx context.Context, channelID, login string) (string, error)

	// Lift ends a user's timeout or ban, unless somebody else gave it. Nil where nobody is acted on.
	Lift func(ctx context.Context, channelID, userID string) error

	// Forgive drops the penalties that wait to be carried out for a user's entries from the first to the last, and has undone what is under way for
	// them. It returns the entries of both. Nil where nobody is acted on.
	Forgive func(channelID, userID string, first, last chatguard.EntryID) (dropped, underWay []chatguard.EntryID)

	Raid Raid // what raid mode is

	// Changed is told of a channel whose switches changed. It must not block. Nil means nobody is told.
	Changed func(channelID string)

	// Amended is told of a user of a channel who was given or forgiven something, or has something else of their own, once that is in force. It must
	// not block. Nil means nobody is told.
	Amended func(channelID, userID string)

	Now func() time.Time // nil means the Guard's clock
	Log *slog.Logger     // nil logs nothing
}

// Store keeps what was changed. Its methods return saved = false where what they were given waits, because the database is in trouble.
type Store interface {
	Record(ctx context.Context, a journal.Audit) (saved bool, err error)
	SaveSetting(ctx context.Context, channelID, name, value string) (saved bool, err error)
	// Commit returns once what was changed before is stored, in the Guard as well.
	Commit(ctx context.Context) (saved bool)
	// Entry returns a journal entry by its ID.
	Entry(ctx context.Context, id chatguard.EntryID) (journal.Entry, bool, error)
	// Entries returns the journal's entries wanted, the newest first, those that wait to be written among them.
	Entries(ctx context.Context, wanted journal.EntryFilter) ([]journal.Entry, error)
	// Audits returns the changes wanted, the newest first.
	Audits(ctx context.Context, wanted journal.AuditFilter) ([]journal.Audit, error)
}

// ErrNoUser is what Options.UserID returns where there is no such user.
var ErrNoUser = errors.New("there is no such user")

// Controls change things. They are safe for concurrent use; make them with New.
type Controls struct {
	options Options
	steady  func() time.Time // by which raid mode ends: a clock that doesn't follow the steps of the wall clock

	storing chan struct{} // holds a value while switches are stored
	pardons pardons

	mu       sync.Mutex // held while switches change and come into force
	switches map[string]Switches
}

// New returns Controls with the switches that were kept: the settings of channels by ID and name.
func New(o Options, kept map[string]map[string]string) *Controls {
	if o.Now == nil {
		o.Now = o.Guard.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Changed == nil {
		o.Changed = func(string) {}
	}
	if o.Amended == nil {
		o.Amended = func(string, string) {}
	}
	c := &Controls{options: o, steady: clock.Monotonic(), storing: make(chan struct{}, 1), switches: map[string]Switches{}}
	for channelID, settings := range kept {
		c.recall(channelID, settings)
	}
	return c
}

// Run ends what was meant to last for a while, until ctx ends.
func (c *Controls) Run(ctx context.Context) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.endRaids(ctx)
		case <-ctx.Done():
			return nil
		}
	}
}

// record notes a change in the audit.
func (c *Controls) record(ctx context.Context, a journal.Audit) (saved bool, err error) {
	a.At = c.options.Now().UTC()
	saved, err = c.options.Store.Record(ctx, a)
	if err != nil {
		return saved, doneError{"it isn't noted in the audit", c.trouble(err)}
	}
	return saved, nil
}

// doneError is what went wrong with something that was done all the same.
type doneError struct {
	lack  string
	cause error
}

func (e doneError) Error() string { return fmt.Sprintf("it is done, but %s: %v", e.lack, e.cause) }
func (e doneError) Unwrap() error { return e.cause }

// trouble logs what the Store returned, and returns as much of it as people need.
func (c *Controls) trouble(err error) error {
	c.options.Log.Error("the store failed", "error", err)
	return journal.ErrStore
}

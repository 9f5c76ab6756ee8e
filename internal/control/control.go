// Package control makes the changes that moderators request while chat runs, from the dashboard or
// from chat. It pauses a channel, switches raid mode, and grants or pardons single users. For
// changes of policies, see package policies. The package first puts each change in force in the
// Guard, then records it in the audit log. It answers once the record is stored.
//
// The package does not know the chat, the dashboard or the store. It reaches them only through the
// funcs and small interfaces below.
package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/clock"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/policies"
)

// Options configures Controls. Guard, Policies and Store are required.
type Options struct {
	Guard *chatguard.Guard
	// Policies are those of the Guard. Their followers are also notified of the changes that
	// Controls make, and switches are shared with the same nodes.
	Policies *policies.Policies
	Store    Store
	// Settings are the configuration's: those of channels whose settings nobody has changed.
	Settings Settings
	// Acceptable returns an error for settings that can't work; it names the key. Nil accepts all.
	Acceptable func(Settings) error

	Now func() time.Time // nil means the Guard's clock
	Log *slog.Logger     // nil logs nothing
}

// Chat is the chat in which Controls act. The zero value is no chat.
type Chat struct {
	// User returns the ID and the login of the user with this login or display name. Its errors
	// are ErrNoUser, ErrNoName and ErrNamesakes, among others. If nil, no user is known.
	User func(ctx context.Context, channelID, name string) (id, login string, err error)

	// Lift ends a user's timeout or ban, unless someone other than chatguard gave it. It returns
	// ErrNotSilenced if there is none. Nil means that chatguard gives no penalties.
	Lift func(ctx context.Context, channelID, userID string) error

	// Forgive drops the pending penalties for a user's entries from first to last. If a penalty for
	// them is being carried out, Forgive arranges for it to be undone. It returns the entries whose
	// penalties it dropped, and those whose penalties are under way. Nil means that chatguard gives
	// no penalties.
	Forgive func(channelID, userID string, first, last chatguard.EntryID) (dropped, underWay []chatguard.EntryID)

	// Acts are the timeouts and bans that people give.
	Acts Acts
}

// Store stores the changes. Its methods return saved = false if the database fails; the change is
// then pending.
type Store interface {
	Record(ctx context.Context, a journal.Audit) (saved bool, err error)
	SaveSetting(ctx context.Context, channelID, name, value string) (saved bool, err error)
	// AddNote numbers a note and keeps it. DeleteNote deletes a note and returns it; ok is false if
	// there is none. Both are stored with the next change.
	AddNote(n journal.Note) (journal.Note, error)
	DeleteNote(channelID, userID string, id int64) (n journal.Note, ok bool, err error)
	// Commit returns once all earlier changes are stored, including those of the Guard.
	Commit(ctx context.Context) (saved bool)
	// Entry returns a journal entry by its ID.
	Entry(ctx context.Context, id chatguard.EntryID) (journal.Entry, bool, error)
	// Entries returns the matching journal entries, newest first, including pending ones.
	Entries(ctx context.Context, wanted journal.EntryFilter) ([]journal.Entry, error)
	// Audits returns the matching changes, newest first.
	Audits(ctx context.Context, wanted journal.AuditFilter) ([]journal.Audit, error)
}

// Errors of Chat.User.
var (
	ErrNoUser = errors.New("there is no such user")
	// ErrNoName means that nobody seen in the channel has this display name.
	ErrNoName = errors.New("nobody seen here has this display name")
	// ErrNamesakes means that several users seen in the channel have this display name.
	ErrNamesakes = errors.New("several users seen here have this display name")
)

// Errors of Controls, for errors.Is, in addition to policies.ErrStale. Any other error describes what is
// wrong with the request.
var (
	ErrNoEntry   = errors.New("there is nothing to pardon")
	ErrNoNote    = errors.New("there is no such note")
	ErrStore     = errors.New("the database is failing")               // the log has details
	ErrSilenced  = errors.New("the user is still timed out or banned") // everything else was done
	ErrNoUndo    = errors.New("this pardon can't be undone any more: another one has followed, the user was reset, chatguard was restarted, or too much time has passed")
	ErrExemption = errors.New("an exemption lasts at most a year")
	// ErrMoreThanExemption is returned by SetExemption for another change.
	ErrMoreThanExemption = errors.New("more than the exemption would change")
)

// Controls makes changes. It is safe for concurrent use. Create one with New.
type Controls struct {
	options Options
	guard   *chatguard.Guard
	now     func() time.Time
	log     *slog.Logger
	chat    Chat
	// steady is the clock for the end of raid mode. It ignores steps of the wall clock.
	steady func() time.Time

	shared    *policies.Shared
	documents *policies.Kind

	storing chan struct{} // holds a value while switches are stored
	pardons pardons

	overriding  sync.Mutex // held while a user's override is changed and stored
	configuring sync.Mutex // held while a channel's settings are changed and stored

	mu       sync.Mutex // held while switches and settings change and take effect
	switches map[string]Switches
	base     Settings            // of the configuration
	settings map[string]Settings // of the channels whose settings people have changed
	rates    func() map[string]float64
	calmEnds map[string]time.Time // until when raid mode doesn't start by itself, by the steady clock
}

// New returns Controls with all switches off. They act in no chat until Join.
func New(o Options) *Controls {
	if o.Now == nil {
		o.Now = o.Guard.Now
	}
	c := &Controls{
		options: o, guard: o.Guard, now: o.Now, log: cmp.Or(o.Log, slog.New(slog.DiscardHandler)), shared: o.Policies.Shared,
		steady: clock.Monotonic(), storing: make(chan struct{}, 1), switches: map[string]Switches{},
		base: o.Settings, settings: map[string]Settings{}, calmEnds: map[string]time.Time{},
	}
	c.documents = c.shared.Add(&policies.Kind{Prefix: "switches/", Apply: c.applyShared, Current: c.toShare})
	c.Join(Chat{})
	return c
}

// Restore loads the stored switches and settings. kept has the settings by channel ID and name.
// Call it before any switch changes.
func (c *Controls) Restore(kept map[string]map[string]string) {
	for channelID, settings := range kept {
		c.recallSettings(channelID, settings[settingsSetting])
		c.recall(channelID, settings)
	}
}

// Join makes Controls act in a chat. Call it before the first pardon and the first command.
func (c *Controls) Join(chat Chat) {
	if chat.User == nil {
		chat.User = func(context.Context, string, string) (string, string, error) { return "", "", ErrNoUser }
	}
	c.chat = chat
}

// Run ends raid modes when their time is over, and starts those that start by themselves, until ctx
// ends.
func (c *Controls) Run(ctx context.Context) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.endRaids(ctx)
			c.startRaids(ctx)
		case <-ctx.Done():
			return nil
		}
	}
}

// record adds a change to the audit.
func (c *Controls) record(ctx context.Context, a journal.Audit) (saved bool, err error) {
	ctx, cancel := policies.UntilKept(ctx)
	defer cancel()
	a.At = c.now().UTC()
	c.options.Policies.Followers.Made(a)
	saved, err = c.options.Store.Record(ctx, a)
	if err != nil {
		return saved, doneError{"it is not recorded in the audit", c.trouble(err)}
	}
	return saved, nil
}

// commit returns once all earlier changes are stored.
func (c *Controls) commit(ctx context.Context) (saved bool) {
	ctx, cancel := policies.UntilKept(ctx)
	defer cancel()
	return c.options.Store.Commit(ctx)
}

// doneError is an error that occurred after a change was made.
type doneError struct {
	lack  string
	cause error
}

func (e doneError) Error() string { return fmt.Sprintf("done, but %s: %v", e.lack, e.cause) }
func (e doneError) Unwrap() error { return e.cause }

// trouble logs an error of the Store and returns the error to show to people.
func (c *Controls) trouble(err error) error {
	c.log.Error("the store failed", "error", err)
	return ErrStore
}

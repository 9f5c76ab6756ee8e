// Package host connects a Guard with its store, with the policies in force and people's changes to
// them, and with the switches that override them. The complete bot is built on it. So are packages
// sqlitestore and dashboard, for a Guard inside another program.
//
// The package knows no HTTP and no chat platform. Code that shows verdicts or acts on them follows
// the Host; see Host.Follow.
package host

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/VictoriaMetrics/metrics"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/internal/repeats"
)

// Host is a Guard with its store. It is safe for concurrent use once Restore has returned. Get one
// from Open or OpenMemory.
//
// The order of calls is Open, Join, Restore, Follow, Run, Close. If Join or Restore fails, call
// only Close.
type Host struct {
	Store    *persist.Store
	Metrics  *metrics.Set // the store's metrics; a store in memory has none here
	IsMemory bool         // nothing survives the process

	// Policies are the channels' policies. Join sets Policies and Controls.
	Policies *policies.Policies
	Controls *control.Controls

	// Repeats remembers who wrote the same text. Join sets it.
	Repeats *repeats.Memory

	// Restore sets these fields to the state at the start. Settings are the stored settings of
	// channels, by ID and name. Changed are the IDs of the channels that people had changed.
	Settings map[string]map[string]string
	Changed  []string

	log     *slog.Logger
	options Options
	guard   *chatguard.Guard // nil before Join
	kept    *chatguard.Guard // the Guard whose users' state is stored

	mu    sync.RWMutex // guards notes
	notes []Notes

	running sync.Mutex // guards runs and finish
	runs    int        // calls of Run whose context hasn't ended
	finish  func() error
}

// Options configure a Host. The zero value is for a Guard inside another program.
type Options struct {
	Policies policies.Options // Join sets Guard, Store and Log
	// StateElsewhere means that the users' state is neither restored nor stored, because it is in a
	// shared store.
	StateElsewhere bool

	// Settings are the settings of channels whose settings nobody has changed; nil means the
	// configuration's default.
	Settings *control.Settings

	// Acts means that the program acts on throttled messages and reports what it does. Otherwise
	// the Host reports to the store and the followers that each throttled message is dropped.
	Acts bool
}

// Open opens the database at path as persist.Open does.
func Open(ctx context.Context, path string, opts persist.Options) (*Host, error) {
	h := newHost(&opts)
	var err error
	if h.Store, err = persist.Open(ctx, path, &opts); err != nil {
		return nil, err
	}
	return h, nil
}

// OpenMemory returns a Host that stores nothing. Its Restore and Run don't take the users' state
// from the Guard, so that another store can save that state.
func OpenMemory(ctx context.Context, opts persist.Options) (*Host, error) {
	h := newHost(&opts)
	h.IsMemory = true
	var err error
	if h.Store, err = persist.OpenMemory(ctx, &opts); err != nil {
		return nil, err
	}
	return h, nil
}

func newHost(opts *persist.Options) *Host {
	opts.Logger = cmp.Or(opts.Logger, slog.Default())
	opts.Metrics = cmp.Or(opts.Metrics, metrics.NewSet())
	return &Host{Metrics: opts.Metrics, log: opts.Logger}
}

// Join creates the Policies and Controls of a Guard. They are not in force before Restore.
func (h *Host) Join(guard *chatguard.Guard, o Options) (err error) {
	h.guard, h.kept, h.options, h.Repeats = guard, guard, o, repeats.New(guard)
	if h.IsMemory || o.StateElsewhere { // taking the Guard's rows would hide them from another store
		if h.kept, err = chatguard.New(chatguard.DefaultPolicy(), nil); err != nil {
			return err
		}
	}
	settings := SettingsOf(config.Default())
	if o.Settings != nil {
		settings = *o.Settings
	}
	o.Policies.Guard, o.Policies.Store, o.Policies.Log = guard, h.Store, h.log
	h.Policies = policies.New(o.Policies)
	h.Controls = control.New(control.Options{
		Guard: guard, Policies: h.Policies, Store: h.Store, Settings: settings, Acceptable: acceptable, Log: h.log,
	})
	return nil
}

// Restore makes the Guard continue where the last process ended. It restores people's policy
// changes, then usage unless that is elsewhere, then pauses. From then on the store receives every
// verdict. The error is a policies.Error or the store's.
func (h *Host) Restore(ctx context.Context) (stats persist.RestoreStats, err error) {
	if err := h.Policies.Restore(ctx); err != nil {
		return stats, err
	}
	if h.Settings, err = h.Store.Settings(ctx); err != nil {
		return stats, err
	}
	restored := h.kept
	if h.options.StateElsewhere {
		restored = nil
	}
	if stats, err = h.Store.Restore(ctx, restored); err != nil {
		return stats, err
	}
	h.Changed = slices.Collect(maps.Keys(h.Settings))
	for _, c := range h.Policies.LiveChanges() {
		h.Changed = append(h.Changed, c.ChannelID)
	}
	h.Controls.Restore(h.Settings)
	h.Store.RecordTexts(h.guard.TextPrint)
	h.guard.AddObserver(h.Repeats.Observe)
	h.Store.RecordRepeats(h.Repeats.Of)
	h.observe(h.Store)
	return stats, nil
}

// Guards reports whether the Host has joined this Guard.
func (h *Host) Guards(guard *chatguard.Guard) bool { return h.guard == guard }

// Database returns the state of the store as it is shown to people.
func (h *Host) Database() journal.Database {
	s := h.Store.Health()
	d := journal.Database{
		State: journal.DatabaseOK, Detail: s.Problem, Since: s.Since, LastFlush: s.LastFlush, Lag: s.Lag,
		Queued: s.Waiting, Dropped: s.Dropped.Timeline + s.Dropped.Journal,
	}
	switch {
	case s.State == persist.Failing:
		d.State = journal.DatabaseFailing
	case h.IsMemory:
		return journal.Database{State: journal.DatabaseOff}
	}
	return d
}

// Close closes the database.
func (h *Host) Close() error { return h.Store.Close() }

// Handle lets this module find the Host in a value that embeds the Handle, at any depth. A public
// type thus needs no exported method that returns a Host, and a type that embeds the public type
// has the same Host. Embed a Handle under an unexported alias, so that no field is exported. The
// zero value has no Host.
type Handle struct{ host *Host }

// NewHandle returns the Handle of a Host.
func NewHandle(h *Host) Handle { return Handle{h} }

func (h Handle) hostOf() *Host { return h.host }

// Of returns the Host of a value that embeds a Handle, or nil for any other value.
func Of(value any) *Host {
	if v, ok := value.(interface{ hostOf() *Host }); ok {
		return v.hostOf()
	}
	return nil
}

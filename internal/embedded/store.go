// Package embedded joins a Guard inside somebody else's program with what keeps it: the store, and what people lay over its policies while it
// runs. Packages sqlitestore and dashboard are the doors to it.
//
// It knows no HTTP, and no more of the program around it than that a throttled message reaches nobody there.
package embedded

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"

	"github.com/VictoriaMetrics/metrics"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist"
)

// Store is the store of one Guard. It is safe for concurrent use; get one from Open or OpenMemory.
//
// The order of calls is Open, Restore, Run, Close.
type Store struct {
	*persist.Store
	Metrics  *metrics.Set      // the store's figures
	Controls *control.Controls // nil before Restore

	log       *slog.Logger
	guard     *chatguard.Guard // nil before Restore
	changed   []string         // the IDs of the channels in which people had changed something before the start
	kept      *chatguard.Guard // the one whose users' state is stored
	isMemory  bool
	bases     bases
	followers followers
}

// Open opens the database at path as persist.Open does.
func Open(ctx context.Context, path string, opts persist.Options) (*Store, error) {
	s := newStore(&opts)
	var err error
	if s.Store, err = persist.Open(ctx, path, &opts); err != nil {
		return nil, err
	}
	return s, nil
}

// OpenMemory returns a Store that keeps nothing. Its Restore and Run leave the state of the Guard's users to whoever may store it.
func OpenMemory(ctx context.Context, opts persist.Options) (*Store, error) {
	s := newStore(&opts)
	s.isMemory = true
	var err error
	if s.Store, err = persist.OpenMemory(ctx, &opts); err != nil {
		return nil, err
	}
	return s, nil
}

func newStore(opts *persist.Options) *Store {
	if opts.Logger == nil {
		opts.Logger = slog.Default()
	}
	opts.Metrics = metrics.NewSet()
	return &Store{Metrics: opts.Metrics, log: opts.Logger}
}

// ErrNoGuard is the error of Restore without a Guard.
var ErrNoGuard = errors.New("the Guard is missing: make one with chatguard.New")

// ErrRestored is the error of a Store that has a Guard already.
var ErrRestored = errors.New("the store was restored already: open one for each Guard")

// ErrNotRestored is the error of a Store without a Guard.
var ErrNotRestored = errors.New("the store has no Guard yet: call its Restore first")

// Restore makes a Guard go on where the last process ended: what people changed of policies comes into force, then what users have spent, then
// what was paused. From then on the Store is told of every verdict, and that a throttled message reaches nobody.
func (s *Store) Restore(ctx context.Context, guard *chatguard.Guard) (persist.RestoreStats, error) {
	switch {
	case guard == nil:
		return persist.RestoreStats{}, ErrNoGuard
	case s.guard != nil:
		return persist.RestoreStats{}, ErrRestored
	}
	kept, err := s.whoseStateIsStored(guard)
	if err != nil {
		return persist.RestoreStats{}, err
	}
	if err := s.putPoliciesInForce(ctx, guard); err != nil {
		return persist.RestoreStats{}, err
	}
	settings, err := s.Settings(ctx)
	if err != nil {
		return persist.RestoreStats{}, err
	}
	stats, err := s.Store.Restore(ctx, kept)
	if err != nil {
		return stats, err
	}
	s.guard, s.kept = guard, kept
	s.changed = slices.AppendSeq(s.changed, maps.Keys(settings))
	raid := config.Default().Raid
	s.Controls = control.New(control.Options{
		Guard: guard, Store: s, Log: s.log,
		Raid:    control.Raid{Lasts: raid.Lasts, Everyone: raid.Limit(), FirstTimer: raid.FirstTimer()},
		Changed: s.followers.changed, Amended: s.followers.amended,
	}, settings)
	guard.AddObserver(Observer(s))
	return stats, nil
}

// whoseStateIsStored is the Guard itself. A database in memory gets one without users: whoever took the Guard's rows would keep them from a store
// that lasts.
func (s *Store) whoseStateIsStored(guard *chatguard.Guard) (*chatguard.Guard, error) {
	if s.isMemory {
		return chatguard.New(chatguard.DefaultPolicy(), nil)
	}
	return guard, nil
}

// Guards reports whether the Store was restored with this Guard. A nil one was with none.
func (s *Store) Guards(guard *chatguard.Guard) bool {
	return s != nil && s.guard == guard && guard != nil
}

// Changed returns the IDs of the channels in which people had changed something before the start: those are known though nobody has written yet.
func (s *Store) Changed() []string { return s.changed }

// IsMemory reports whether nothing outlives the process.
func (s *Store) IsMemory() bool { return s.isMemory }

// Run writes behind, and ends what was meant to last for a while, until ctx ends; then it writes everything once more. The error says what is lost.
// End ctx when nobody judges messages or changes anything any more.
func (s *Store) Run(ctx context.Context) error {
	if s.guard == nil {
		return ErrNotRestored
	}
	writing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	written := make(chan error, 1)
	go func() { written <- s.Store.Run(writing, s.kept) }()
	err := s.Controls.Run(ctx)
	stop()
	return errors.Join(err, <-written)
}

// putPoliciesInForce makes hold what people have changed of channels' policies, over what the program says.
func (s *Store) putPoliciesInForce(ctx context.Context, guard *chatguard.Guard) error {
	revisions, err := s.CurrentRevisions(ctx)
	if err != nil {
		return err
	}
	for _, r := range revisions {
		if !r.IsEmpty() {
			s.putInForce(guard, r)
			s.changed = append(s.changed, r.ChannelID)
		}
	}
	return nil
}

// putInForce makes hold what of a change still fits, and names the rest.
func (s *Store) putInForce(guard *chatguard.Guard, r journal.Revision) {
	log := s.log.With("channel", r.ChannelID, "revision", r.Number, "author", r.Author)
	base := s.bases.of(guard, r.ChannelID)
	policy, left, err := r.Apply(base)
	if err != nil {
		log.Error("what was changed live can't be used; the program's policy holds instead", "problem", err)
		return
	}
	for _, c := range left {
		log.Warn("changed live, which no longer fits the program's policy", "key", c.Key, "value", c.To)
	}
	s.bases.note(guard, r.ChannelID, policy)
	if err := guard.SetPolicy(r.ChannelID, policy, guard.Now()); err != nil {
		s.bases.forget(r.ChannelID)
		log.Error("what was changed live no longer fits the program's policy, which holds instead", "problem", err)
		return
	}
	for _, c := range journal.Diff(base, policy) {
		log.Info("changed live, and so not as the program says", "key", c.Key, "value", c.To, "program", c.From)
	}
}

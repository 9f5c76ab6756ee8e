package shared_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/shared"
)

// lockedRows is a Store for the Guards of one process. Package redisstore has one for many
// processes.
type lockedRows struct {
	mu   sync.Mutex
	rows map[string][]byte
	own  map[string][]string // IDs of users with an override, by channel
	now  time.Time
	full bool // the store refuses
	// invalidate is called for the rows of a swap with Notify. It is Guard.Invalidate of the other
	// Guards.
	invalidate func(channelID, userID string)
	expiry     map[string]time.Time
}

func (l *lockedRows) Swap(_ context.Context, swaps []*shared.Swap) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range swaps {
		l.swap(s)
	}
}

func (l *lockedRows) swap(s *shared.Swap) {
	if l.full {
		s.Err, s.Unknown = fmt.Errorf("%w (it is full)", shared.ErrRefused), false // nothing was written
		return
	}
	same := true
	for i := range s.Rows {
		r := &s.Rows[i]
		r.Now = l.rows[r.ChannelID+"/"+r.UserID]
		same = same && bytes.Equal(r.Now, r.Was)
	}
	if s.Done = same; !same {
		return
	}
	for _, r := range s.Rows {
		l.rows[r.ChannelID+"/"+r.UserID] = r.Is
		l.expiry[r.ChannelID+"/"+r.UserID] = r.Until
		if r.HasOverride && !slices.Contains(l.own[r.ChannelID], r.UserID) {
			l.own[r.ChannelID] = append(l.own[r.ChannelID], r.UserID)
		}
		if s.Notify {
			l.invalidate(r.ChannelID, r.UserID)
		}
	}
}

func (l *lockedRows) Timeout() time.Duration            { return 100 * time.Millisecond }
func (l *lockedRows) Clock() (time.Time, time.Duration) { return l.now, 0 }
func (l *lockedRows) Number() (int, bool)               { return 0, true }

func (l *lockedRows) Overrides(_ context.Context, channelID string) ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.own[channelID]), nil
}

var _ shared.Store = (*lockedRows)(nil)

// Two Guards share a store, so a user can't get around a limit by using both.
func ExampleStore() {
	ctx := context.Background()
	store := &lockedRows{rows: map[string][]byte{}, own: map[string][]string{}, expiry: map[string]time.Time{}, now: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)}
	policy := chatguard.DefaultPolicy() // three messages at once
	policy.Mode = chatguard.ModeEnforce
	opts := &chatguard.Options{Shared: store, SharedMode: shared.Exact, SharedRows: 100_000}
	first, err := chatguard.New(policy, opts)
	if err != nil {
		fmt.Println(err)
		return
	}
	second, err := chatguard.New(policy, opts)
	if err != nil {
		fmt.Println(err)
		return
	}
	store.invalidate = func(channelID, userID string) {
		first.Shared().Invalidate(channelID, userID)
		second.Shared().Invalidate(channelID, userID)
	}
	m := chatguard.Message{ChannelID: "c", User: chatguard.User{ID: "7"}}
	for _, g := range []*chatguard.Guard{first, second, first, second} {
		v, err := g.Check(ctx, m)
		fmt.Println(v.Allowed, v.RetryAfter, err)
	}
	fmt.Println(second.Reset(ctx, m.Key()))
	v, err := first.Check(ctx, m)
	fmt.Println(v.Allowed, err)

	store.full = true
	v, err = first.Check(ctx, m)
	fmt.Println(v.Allowed, v.Degraded, err)
	err = first.Reset(ctx, m.Key())
	fmt.Println(errors.Is(err, shared.ErrRefused), errors.Is(err, shared.ErrUnconfirmed))
	store.full = false
	first.Shared().Heal()                     // the store may have lost rows
	store.now = store.now.Add(time.Second)    // meanwhile, nodes give these back
	fmt.Println(first.Shared().Exchange(ctx)) // what was allowed meanwhile is written
	s := first.Shared().Counts()
	fmt.Println(s.Swaps, s.Conflicts, s.Offline, s.Pending, s.FromMemory, s.Healed, s.Unreadable, s.Rows, s.Exchanged, s.Assumed, s.Lost, s.Problem)
	// Output:
	// true 0s <nil>
	// true 0s <nil>
	// true 0s <nil>
	// false 4s <nil>
	// <nil>
	// true <nil>
	// true true <nil>
	// true false
	// <nil>
	// 4 2 1 0 0 0 0 1 1 0 0
}

// A program that was alone begins to share limits. What users have spent today goes on to count.
func ExampleSeeded() {
	ctx, day := context.Background(), time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	alone, err := chatguard.New(chatguard.DefaultPolicy(), &chatguard.Options{Now: func() time.Time { return day }})
	if err != nil {
		fmt.Println(err)
		return
	}
	m := chatguard.Message{ChannelID: "c", User: chatguard.User{ID: "7"}}
	for range 3 {
		if _, err := alone.Check(ctx, m); err != nil {
			fmt.Println(err)
		}
	}
	batch := alone.State().Dirty() // the program's database has these rows

	store := &lockedRows{rows: map[string][]byte{}, own: map[string][]string{}, expiry: map[string]time.Time{}, now: day}
	seeding, err := chatguard.New(chatguard.DefaultPolicy(), &chatguard.Options{Shared: store})
	if err != nil {
		fmt.Println(err)
		return
	}
	for row := range batch.Rows() {
		if err := seeding.State().Restore(row, seeding.Now()); err != nil {
			fmt.Println(err)
		}
	}
	for range 2 {
		done, err := seeding.Shared().Seed(ctx, false)
		fmt.Println(done.Written, done.Kept, err)
	}
	node, err := chatguard.New(chatguard.DefaultPolicy(), &chatguard.Options{Shared: store})
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := node.Check(ctx, m)
	fmt.Println(v.Allowed, v.RetryAfter, err)
	// Output:
	// 1 0 <nil>
	// 0 1 <nil>
	// false 4s <nil>
}

// Two nodes must have the same policy to share its limits.
func ExampleGuard() {
	policy := chatguard.DefaultPolicy()
	a, err := chatguard.New(policy, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := chatguard.New(policy, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a.Shared().PolicyHash() == b.Shared().PolicyHash())
	policy.Limits[0].Burst++
	if err := b.SetPolicy(policy); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a.Shared().PolicyHash() == b.Shared().PolicyHash())
	// Output:
	// true
	// false
}

// Two Guards decide in memory, and compare what they have allowed from time to time.
func ExampleStore_synchronised() {
	ctx := context.Background()
	store := &lockedRows{rows: map[string][]byte{}, own: map[string][]string{}, expiry: map[string]time.Time{}, now: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)}
	var mode shared.Mode = shared.Synchronised
	policy := chatguard.DefaultPolicy() // three messages at once
	policy.Mode = chatguard.ModeEnforce
	var guards [2]*chatguard.Guard
	for i := range guards {
		var err error
		if guards[i], err = chatguard.New(policy, &chatguard.Options{Shared: store, SharedMode: mode}); err != nil {
			fmt.Println(err)
			return
		}
	}
	store.invalidate = func(channelID, userID string) {
		for _, g := range guards {
			g.Shared().Invalidate(channelID, userID)
		}
	}
	guards[0].Shared().InvalidateAll() // a store that has missed notices does this
	m := chatguard.Message{ChannelID: "c", User: chatguard.User{ID: "7"}}
	for range 2 {
		for _, g := range guards {
			v, err := g.Check(ctx, m)
			fmt.Println(v.Allowed, err)
		}
	}
	for _, g := range guards { // redisstore.Store.Run does this every 500 ms
		if err := g.Shared().Exchange(ctx); err != nil {
			fmt.Println(err)
		}
	}
	v, err := guards[1].Check(ctx, m)
	fmt.Println(v.Allowed, v.RetryAfter, err, guards[1].Shared().Counts().Overdrawn)
	// Output:
	// true <nil>
	// true <nil>
	// true <nil>
	// true <nil>
	// false 8s <nil> 1
}

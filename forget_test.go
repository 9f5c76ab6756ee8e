package chatguard

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatguard/chatguard/shared"
)

// soonRestored sets a single bucket, restored within three minutes.
func soonRestored(p *Policy) {
	p.Limits = []Limit{TokenBucketLimit("burst", 3, time.Minute)}
}

func roomMessage(room, user string, at time.Time) Message {
	return Message{ChannelID: room, User: User{ID: user}, SentAt: at}
}

func TestForgetChannel(t *testing.T) {
	g := newEnforcingGuard(t, soonRestored, nil)
	spend := func(room string) (v Verdict) {
		for range 4 {
			v = mustCheck(t, g, roomMessage(room, "7", monday))
		}
		return v
	}
	spend("1")
	spend("2")
	own := g.Policy()
	own.Mode = ModeObserve
	at := g.at(monday)
	must(t, at.SetChannelPolicy("1", own))
	must(t, at.SetOverlay("1", func(p Policy) Policy { p.Limits = nil; return p }))
	batch := g.State().Dirty()
	rows := slices.Collect(batch.Rows())
	for _, room := range []string{"1", "never seen", ""} {
		g.ForgetChannel(room)
	}
	batch.Confirm() // has nothing to confirm any more
	if m := g.Memory(); m.Users != 1 {
		t.Errorf("%+v", m)
	}
	if p := (inner{g}).InForce("1"); p.Mode != ModeEnforce || len(p.Limits) != 1 {
		t.Errorf("still in force: %+v", p)
	}
	if v := spend("1"); v.Allowed || v.Limit != "burst" {
		t.Errorf("the fourth message in the new room: %v", v)
	}
	if mustCheck(t, g, roomMessage("2", "7", monday)).Allowed {
		t.Error("another room has been forgotten")
	}
	for _, row := range rows {
		must(t, g.State().Restore(row, monday))
	}
	if n := g.channels.known.count; n != 2 {
		t.Errorf("%d channels", n)
	}
}

// TestIdleChannels_Go checks that rooms go by themselves, by new rooms or by a store that takes
// changes, once nothing in them counts any more.
func TestIdleChannels_Go(t *testing.T) {
	const rooms, users = 100, 3
	for _, stored := range []bool{false, true} {
		t.Run(fmt.Sprint("stored ", stored), func(t *testing.T) {
			at := monday
			g := newEnforcingGuard(t, soonRestored, &Options{Now: func() time.Time { return at }})
			for i := range rooms * users {
				mustCheck(t, g, roomMessage(strconv.Itoa(i%rooms), strconv.Itoa(i), at))
			}
			live := func(n int) {
				for i := range n {
					if stored {
						mustCheck(t, g, roomMessage("live", strconv.Itoa(i), at))
						confirmDirty(g)
					} else {
						mustCheck(t, g, roomMessage(fmt.Sprint(at, i), "7", at))
					}
				}
			}
			at = at.Add(2*time.Minute - 1) // one of three tokens is missing, or a minute hasn't passed
			live(2 * rooms)
			if m := g.Memory(); m.Users < rooms*users+1 || m.Forgotten != 0 {
				t.Fatalf("too early: %+v", m)
			}
			at = at.Add(time.Hour)
			live(2 * rooms)
			if n, m := g.channels.known.count, g.Memory(); n > 5*rooms/2 || m.Forgotten < rooms*users || m.Evicted != 0 {
				t.Errorf("%d channels are left, %+v", n, m)
			}
			for i := range rooms {
				if g.channels.known.find(strconv.Itoa(i)) != nil {
					t.Fatalf("room %d is there", i)
				}
			}
		})
	}
}

// TestIdleChannels_Kept checks that a room stays as long as it holds something that counts.
func TestIdleChannels_Kept(t *testing.T) {
	at := monday
	g := newEnforcingGuard(t, soonRestored, &Options{Now: func() time.Time { return at }})
	shared := g.Policy()
	shared.Limits = append(shared.Limits, Limit{Name: "crowd", Algorithm: UserWindow, Messages: 9, Every: 1000 * time.Hour, Per: PerChannel})
	must(t, g.SetPolicy(shared))
	must(t, g.SetChannelPolicy("own policy", g.Policy()))
	must(t, g.at(at).SetOverlay("overlay", func(p Policy) Policy { return p }))
	must(t, g.SetUserOverride(t.Context(), Key{ChannelID: "override", UserID: "7"}, UserOverride{Exempt: ExemptAlways}))
	_, err := g.Grant(t.Context(), Key{ChannelID: "grant", UserID: "7"}, "burst", 1)
	must(t, err)
	mustCheck(t, g, roomMessage("crowd", "7", at))
	for range 50 {
		at = at.Add(20 * time.Minute)
		for i := range 20 {
			mustCheck(t, g, roomMessage(fmt.Sprint(at.Unix(), i), "7", at))
		}
		confirmDirty(g)
	}
	for _, room := range []string{"own policy", "overlay", "override", "grant", "crowd"} {
		if g.channels.known.find(room) == nil {
			t.Errorf("the room with %q has gone", room)
		}
	}
}

// TestIdleChannels_OneWrongClock checks that a single message from the future makes no room go.
func TestIdleChannels_OneWrongClock(t *testing.T) {
	g := newEnforcingGuard(t, soonRestored, nil)
	for i := range 10 {
		mustCheck(t, g, roomMessage("1", strconv.Itoa(i), monday))
	}
	mustCheck(t, g, roomMessage("2", "7", monday.AddDate(50, 0, 0)))
	mustCheck(t, g, roomMessage("3", "7", monday))
	if m := g.Memory(); m.Users != 12 || m.Forgotten != 0 {
		t.Errorf("%+v", m)
	}
}

// TestIdleChannels_ConcurrentIsExact sends from many goroutines to rooms that are removed all the
// time. In each period, every user of every room gets exactly the limit: nothing is ever spent in a
// room that has been removed. Counters never go back.
func TestIdleChannels_ConcurrentIsExact(t *testing.T) {
	const periods, rooms, capacity, goroutines = 150, 12, 3, 4
	at := monday
	g := newEnforcingGuard(t, soonRestored, &Options{Now: func() time.Time { return at }})
	removed, forgotten := 0, int64(0)
	for period := range periods {
		var allowed [rooms]atomic.Int64
		var all sync.WaitGroup
		for n := range goroutines {
			all.Go(func() { sendToRooms(t, g, at, n, allowed[:]) })
		}
		all.Go(func() {
			for range rooms {
				confirmDirty(g)
			}
		})
		all.Wait()
		for room := range allowed {
			if n := allowed[room].Load(); n != capacity {
				t.Fatalf("period %d: %d messages were allowed in room %d, want %d", period, n, room, capacity)
			}
		}
		before := forgotten
		if forgotten = g.Memory().Forgotten; forgotten < before {
			t.Fatalf("%d users were forgotten, then %d", before, forgotten)
		} else if forgotten > before {
			removed++
		}
		at = at.Add(time.Hour)
	}
	if removed < periods/2 {
		t.Errorf("rooms were removed in %d of %d periods: the test has lost its point", removed, periods)
	}
}

// sendToRooms sends to each room often enough that its limit is reached, alone or in batches, and
// to rooms of its own, which make others go. It counts the allowed messages.
func sendToRooms(t *testing.T, g *Guard, at time.Time, goroutine int, allowed []atomic.Int64) {
	messages, verdicts := make([]Message, 4), make([]Verdict, 4)
	for i := range len(allowed) {
		room := (i*5 + goroutine) % len(allowed)
		for k := range messages {
			messages[k] = roomMessage(strconv.Itoa(room), "7", at)
		}
		if goroutine%2 == 0 {
			if err := g.CheckAll(context.Background(), messages, verdicts); err != nil {
				t.Error(err)
			}
		} else {
			for k := range messages {
				verdicts[k] = mustCheck(t, g, messages[k])
			}
		}
		for k := range verdicts {
			if verdicts[k].Allowed {
				allowed[room].Add(1)
			}
		}
		mustCheck(t, g, roomMessage(fmt.Sprint(at, goroutine, i), "7", at))
	}
}

// TestForgetChannel_WhileJudging forgets a room while a message in it waits for the clock.
func TestForgetChannel_WhileJudging(t *testing.T) {
	var g *Guard
	forget := false
	g = newEnforcingGuard(t, soonRestored, &Options{Now: func() time.Time {
		if forget {
			g.ForgetChannel("1")
		}
		return monday
	}})
	for name, check := range map[string]func() Verdict{
		"alone": func() Verdict { return mustCheck(t, g, roomMessage("1", "7", time.Time{})) },
		"in a batch": func() Verdict {
			messages := []Message{roomMessage("1", "8", monday), roomMessage("1", "7", time.Time{})}
			verdicts := make([]Verdict, len(messages))
			must(t, g.CheckAll(context.Background(), messages, verdicts))
			return verdicts[1]
		},
	} {
		forget = false
		own := g.Policy()
		own.Penalties.StrikeEvery++
		must(t, g.SetChannelPolicy("1", own))
		for range 3 {
			check()
		}
		forget = true
		if v := check(); !v.Allowed || v.Remaining != 2 {
			t.Errorf("%s: %v, %d remaining; want the first message in a new room", name, v, v.Remaining)
		}
		forget = false
		if v := check(); !v.Allowed || v.Remaining != 1 {
			t.Errorf("%s: %v, %d remaining; want the second message in the new room", name, v, v.Remaining)
		}
		g.ForgetChannel("1")
	}
}

// TestForgetChannel_Concurrent forgets a room while messages are judged and users are changed in
// it. No change is refused, and no more is allowed than the limit for each time that it was
// forgotten.
func TestForgetChannel_Concurrent(t *testing.T) {
	const times, capacity = 300, 3
	g := newEnforcingGuard(t, soonRestored, nil)
	at := g.at(monday)
	var allowed atomic.Int64
	var all sync.WaitGroup
	var done atomic.Bool
	for range 3 {
		all.Go(func() {
			for i := 0; i < 20 || !done.Load(); i++ {
				if mustCheck(t, g, roomMessage("1", "7", monday)).Allowed {
					allowed.Add(1)
				}
				if _, err := at.Grant(t.Context(), Key{ChannelID: "1", UserID: "8"}, "burst", 1); err != nil {
					t.Error(err)
				}
				if err := at.SetUserOverride(t.Context(), Key{ChannelID: "1", UserID: "9"}, UserOverride{Exempt: ExemptAlways}); err != nil {
					t.Error(err)
				}
				if err := at.SetPolicy(g.Policy()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range times {
		g.ForgetChannel("1")
		if mustCheck(t, g, roomMessage("1", "alone", monday)); (inner{g}).InForce("1").Mode != ModeEnforce {
			t.Error("another policy is in force")
		}
	}
	done.Store(true)
	all.Wait()
	if n := allowed.Load(); n < capacity || n > (times+1)*capacity {
		t.Errorf("%d messages were allowed, want %d at most", n, (times+1)*capacity)
	}
}

// Each part of an ID counts in its hash, and so does the length, or a text that repeats would share
// its hash with longer ones.
func TestHashChannel_WholeID(t *testing.T) {
	hashes := map[uint64]string{}
	add := func(id string) {
		if other, ok := hashes[hashChannel(id)]; ok {
			t.Errorf("%q has the hash of %q", id, other)
		}
		hashes[hashChannel(id)] = id
	}
	for n := 1; n <= 20; n++ {
		same := strings.Repeat("a", n)
		add(same)
		for i := range n {
			add(same[:i] + "b" + same[i+1:])
		}
	}
}

// TestChannels_MatchMap adds and removes channels at random.
func TestChannels_MatchMap(t *testing.T) {
	g := newEnforcingGuard(t, nil, nil)
	known := map[string]*channel{}
	for i := range 20_000 {
		id := strconv.Itoa(i * 7919 % 97)
		id += strings.Repeat("a", i*7919%97%20) // up to 21 bytes
		switch {
		case i%3 == 0:
			g.ForgetChannel(id)
			delete(known, id)
		case known[id] == nil:
			known[id] = g.channels.get(id, time.Time{})
		}
		if found := g.channels.known.find(id); found != known[id] {
			t.Fatalf("step %d: channel %s is %v, want %v", i, id, found, known[id])
		}
	}
	count := 0
	g.channels.known.forEach(func(c *channel) {
		if count++; known[c.id] != c {
			t.Errorf("channel %s is there", c.id)
		}
	})
	if count != len(known) || count != g.channels.known.count || len(*g.channels.known.table.Load()) > 1024 {
		t.Errorf("%d channels, counted as %d, want %d, in %d slots", count, g.channels.known.count, len(known), len(*g.channels.known.table.Load()))
	}
}

// A Guard that shares a store doesn't remove and create the same channels again and again: their
// users' rows aren't in the channels.
func TestSweep_SharedChannelsStayWhileInUse(t *testing.T) {
	now := monday
	g := mustNew(t, DefaultPolicy(), &Options{Shared: sharedStub{func() time.Time { return now }}})
	const rooms = 200
	first := make([]*channel, rooms)
	for round := range 3 {
		for i := range rooms {
			mustCheck(t, g, Message{ChannelID: strconv.Itoa(i), User: User{ID: "7"}})
			c := g.channels.known.find(strconv.Itoa(i))
			if round == 0 {
				first[i] = c
			} else if c != first[i] {
				t.Fatalf("round %d: room %d was removed and created again", round, i)
			}
		}
		now = now.Add(time.Minute)
	}
	now = now.Add(time.Hour)
	for i := range 10 * rooms {
		mustCheck(t, g, Message{ChannelID: "new " + strconv.Itoa(i), User: User{ID: "7"}})
		now = now.Add(time.Second)
	}
	for i := range rooms {
		if g.channels.known.find(strconv.Itoa(i)) != nil {
			t.Fatalf("room %d is still in memory an hour later", i)
		}
	}
}

// sharedStub is a Shared store that makes every swap.
type sharedStub struct{ now func() time.Time }

func (s sharedStub) Swap(_ context.Context, swaps []*shared.Swap) {
	for _, swap := range swaps {
		swap.Done = true
	}
}

func (s sharedStub) Timeout() time.Duration                              { return time.Second }
func (s sharedStub) Number() (int, bool)                                 { return 0, true }
func (s sharedStub) Clock() (time.Time, time.Duration)                   { return s.now(), 0 }
func (s sharedStub) Overrides(context.Context, string) ([]string, error) { return nil, nil }

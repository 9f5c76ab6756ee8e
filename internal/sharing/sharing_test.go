package sharing_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/limitinfo"
)

var sharedStart = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func sharedNoon() time.Time { return sharedStart }

// sharedPolicy has a limit of each scope, so that a decision uses four rows.
func sharedPolicy() chatguard.Policy {
	p := chatguard.DefaultPolicy()
	p.Mode = chatguard.ModeEnforce
	p.Limits = append(p.Limits,
		chatguard.Limit{Name: "everywhere", Per: chatguard.PerUserEverywhere, Algorithm: chatguard.SlidingWindow, Messages: 8, Every: time.Minute},
		chatguard.Limit{Name: "room", Per: chatguard.PerChannel, Algorithm: chatguard.FixedWindow, Messages: 40, Every: time.Minute},
		chatguard.Limit{Name: "server", Per: chatguard.PerEverywhere, Algorithm: chatguard.TokenBucket, Burst: 50, Refill: 2 * time.Second})
	return p
}

func enforcedDefault() chatguard.Policy {
	p := chatguard.DefaultPolicy()
	p.Mode = chatguard.ModeEnforce
	return p
}

// comparableVerdict returns a verdict without the fields that differ between two Guards by design.
func comparableVerdict(v chatguard.Verdict) chatguard.Verdict {
	v.EntryID, v.Series = 0, 0
	return v
}

// hammer sends messages of a few users through the Guards from many goroutines, all at the same
// time.
func hammer(t *testing.T, guards []*chatguard.Guard, users, rounds int, at time.Time) {
	t.Helper()
	var wg sync.WaitGroup
	for g, guard := range guards {
		for k := range 4 {
			wg.Go(func() {
				for i := range rounds {
					m := chatguard.Message{ChannelID: "c", User: chatguard.User{ID: fmt.Sprint((g + k + i) % users)}, SentAt: at}
					if _, err := guard.Check(t.Context(), m); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
}

// All Guards together allow what one alone would, also if replies are lost.
func TestShared_NeverTooManyOrTooFew(t *testing.T) {
	for name, policy := range map[string]chatguard.Policy{"default": enforcedDefault(), "all scopes": sharedPolicy()} {
		for _, lossy := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, lossy %v", name, lossy), func(t *testing.T) {
				server := newFakeServer()
				var guards []*chatguard.Guard
				for n := range 3 {
					node, guard := server.connect(policy, sharedNoon)
					if lossy {
						random := seeded(1, uint64(n))
						node.after = func() error {
							if random(10) == 0 {
								return errReplyLost
							}
							return nil
						}
					}
					guards = append(guards, guard)
				}
				const users = 5
				at := sharedStart
				for range 4 {
					hammer(t, guards, users, 100, at)
					at = at.Add(4 * time.Second)
				}
				if !lossy {
					// 3 of the burst and one for each further round; the room has room for 40.
					fresh := mustNew(t, policy, nil)
					want := 0
					for round := range 4 {
						for i := range users * 4 {
							v, err := fresh.Check(t.Context(), chatguard.Message{ChannelID: "c", User: chatguard.User{ID: fmt.Sprint(i % users)}, SentAt: sharedStart.Add(time.Duration(round) * 4 * time.Second)})
							must(t, err)
							if v.Allowed {
								want++
							}
						}
					}
					got := 0
					for u := range users {
						e, err := limitinfo.Explain(t.Context(), guards[0], chatguard.Message{ChannelID: "c", User: chatguard.User{ID: fmt.Sprint(u)}, SentAt: at})
						must(t, err)
						got += e.Limits[1].Used
					}
					if got != want {
						t.Errorf("%d messages passed, want %d", got, want)
					}
				}
			})
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustNew(t *testing.T, policy chatguard.Policy, opts *chatguard.Options) *chatguard.Guard {
	t.Helper()
	guard, err := chatguard.New(policy, opts)
	must(t, err)
	return guard
}

// checkEach sends one message of each of that many users.
func checkEach(t *testing.T, g *chatguard.Guard, users int) {
	t.Helper()
	for user := range users {
		check(t, g, fmt.Sprint(user))
	}
}

func check(t *testing.T, g *chatguard.Guard, user string) chatguard.Verdict {
	t.Helper()
	v, err := g.Check(t.Context(), chatguard.Message{ChannelID: "c", User: chatguard.User{ID: user}, Text: pasted})
	must(t, err)
	return v
}

// pasted is the text of messages, for limits on repeated text.
const pasted = "the same text each time"

// A policy change converts rows as a single Guard does, and everyone sees it at the next message.
func TestShared_SetPolicy(t *testing.T) {
	server := newFakeServer()
	now := sharedStart
	_, a := server.connect(enforcedDefault(), func() time.Time { return now })
	_, b := server.connect(enforcedDefault(), func() time.Time { return now })
	send(t, a, 3)
	slower := enforcedDefault()
	slower.Limits[0].Refill = 8 * time.Second
	for _, g := range []*chatguard.Guard{a, b} {
		must(t, g.SetPolicy(slower))
	}
	if v := check(t, b, "7"); v.Allowed || v.RetryAfter != 8*time.Second {
		t.Errorf("after the refill was doubled: %+v", v)
	}
}

// Of two limits that wait as long, the first of the channel's policy is named, whichever call asks.
func TestShared_PolicyOrder(t *testing.T) {
	policy := chatguard.Policy{Limits: []chatguard.Limit{
		{Name: "own", Algorithm: chatguard.UserWindow, Messages: 1, Every: time.Hour},
		{Name: "everywhere", Per: chatguard.PerUserEverywhere, Algorithm: chatguard.UserWindow, Messages: 1, Every: time.Hour},
	}}
	_, guard := newFakeServer().connect(policy, sharedNoon)
	slices.Reverse(policy.Limits)
	must(t, guard.SetChannelPolicy("2", policy))
	for channel, first := range map[string]string{"1": "own", "2": "everywhere"} {
		m := chatguard.Message{ChannelID: channel, User: chatguard.User{ID: "of " + channel}}
		verdicts := make([]chatguard.Verdict, 2)
		must(t, guard.CheckAll(t.Context(), []chatguard.Message{m, m}, verdicts))
		v, err := guard.Check(t.Context(), m)
		must(t, err)
		e, err := limitinfo.Explain(t.Context(), guard, m)
		must(t, err)
		if got := []string{verdicts[1].Limit, v.Limit, e.Verdict.Limit, e.Limits[0].Name}; slices.ContainsFunc(got, func(name string) bool { return name != first }) {
			t.Errorf("channel %s: %q are named, want %s", channel, got, first)
		}
	}
}

// A new policy of a channel, or of all channels, is in force at once, and keeps what was spent.
func TestShared_PolicyChange(t *testing.T) {
	_, guard := newFakeServer().connect(enforcedDefault(), sharedNoon)
	send(t, guard, 3)
	larger := enforcedDefault()
	larger.Limits[0].Burst = 5
	must(t, guard.SetChannelPolicy("c", larger))
	if got := send(t, guard, 4); got != 2 {
		t.Errorf("%d messages are allowed by a burst of 5 after 3, want 2", got)
	}
	everywhere := enforcedDefault()
	everywhere.Limits = append(everywhere.Limits, chatguard.Limit{Name: "everywhere", Per: chatguard.PerUserEverywhere, Algorithm: chatguard.UserWindow, Messages: 1, Every: time.Minute})
	must(t, guard.SetPolicy(everywhere))
	if first, second := check(t, guard, "8"), check(t, guard, "8"); !first.Allowed || second.Limit != "everywhere" {
		t.Errorf("with a limit in all channels: %v, then %v", first, second)
	}
	if v := check(t, guard, "7"); v.Limit != "burst" {
		t.Errorf("%v, want the burst that was used up before", v)
	}
}

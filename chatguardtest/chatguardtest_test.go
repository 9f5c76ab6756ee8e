package chatguardtest_test

import (
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/chatguardtest"
)

var anna = chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}}

// judge returns a real verdict on the last of n messages of that cost.
func judge(t *testing.T, limit chatguard.Limit, n, cost int) (v chatguard.Verdict) {
	t.Helper()
	guard, err := chatguard.New(chatguard.Policy{Limits: []chatguard.Limit{limit}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := anna
	m.Cost = cost
	for range n {
		if v, err = guard.Check(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

// Prepared verdicts look like a Guard's, except for journal entry, strikes and the time of the
// reset.
func TestVerdicts_LikeReal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		burst := chatguard.TokenBucketLimit("burst", 1, 4*time.Second)
		for _, c := range []struct {
			name           string
			prepared, real chatguard.Verdict
		}{
			{"throttled", chatguardtest.Throttled("burst", 4*time.Second), judge(t, burst, 2, 1)},
			{"never", chatguardtest.Never("burst"), judge(t, burst, 1, 2)},
			{"delayed", chatguardtest.Delayed(4 * time.Second), judge(t, chatguard.LeakyBucketLimit("pace", 4*time.Second, 2), 2, 1)},
		} {
			c.prepared.ChannelID, c.prepared.UserID = c.real.ChannelID, c.real.UserID
			c.real.EntryID, c.real.Strikes, c.real.NewStrike, c.real.Series = 0, 0, false, 0 // a prepared verdict has no history
			c.real.ResetAt, c.prepared.ResetAt = time.Time{}, time.Time{}
			got, want := encode(t, c.prepared), encode(t, c.real)
			if got != want || c.prepared.String() != c.real.String() || c.prepared.Spent != c.real.Spent {
				t.Errorf("%s: prepared and real differ:\n%s\n%s", c.name, got, want)
			}
		}
	})
}

func encode(t *testing.T, v chatguard.Verdict) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestVerdicts_Waits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if err := chatguardtest.Delayed(time.Minute).Hold(t.Context()); err != nil || time.Since(start) != time.Minute {
			t.Errorf("held for %s, %v", time.Since(start), err)
		}
		throttled := chatguardtest.Throttled("burst", time.Hour)
		if wait := time.Until(throttled.At.Add(throttled.RetryAfter)); wait != time.Hour {
			t.Errorf("may speak in %s", wait)
		}
		if never := chatguardtest.Never("burst"); !never.Never || never.RetryAfter != 0 {
			t.Errorf("may speak: %v", never)
		}
	})
}

// The package's documentation promises this.
func TestGuard_FollowsBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		guard, err := chatguard.New(chatguard.DefaultPolicy(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if !guard.Now().Equal(new(chatguardtest.Clock).Now()) {
			t.Errorf("a bubble begins at %s, and a Clock at %s", guard.Now(), new(chatguardtest.Clock).Now())
		}
		for range 3 {
			verdict, err := guard.Check(t.Context(), anna)
			for err == nil && verdict.Allowed {
				verdict, err = guard.Check(t.Context(), anna)
			}
			time.Sleep(verdict.RetryAfter - time.Nanosecond)
			if v, err := guard.Check(t.Context(), anna); err != nil || v.Allowed || v.RetryAfter != 1 {
				t.Errorf("1 ns too early: %s, %v", v, err)
			}
			time.Sleep(time.Nanosecond)
			if v, err := guard.Check(t.Context(), anna); err != nil || !v.Allowed {
				t.Errorf("after the wait: %s, %v", v, err)
			}
		}
	})
}

// All roles and users are throttled in the channels, nobody is throttled in others, and time
// changes nothing.
func TestNewThrottlingGuard_Channels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		guard := chatguardtest.NewThrottlingGuard("lobby", "arena")
		for range 2 {
			for _, channel := range []string{"lobby", "arena", "garden"} {
				for _, user := range []chatguard.User{{ID: "anna"}, {ID: "eve", Roles: chatguard.Roles{chatguard.RoleModerator, "broadcaster"}}} {
					v, err := guard.Check(t.Context(), chatguard.Message{ChannelID: channel, User: user})
					if err != nil || v.Allowed != (channel == "garden") || !v.Allowed && v.RetryAfter != time.Hour {
						t.Errorf("%s in %s: %s, %v", user, channel, v, err)
					}
				}
			}
			time.Sleep(48 * time.Hour)
		}
	})
}

func TestNewThrottlingGuard_NoChannel(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic for an empty channel ID")
		}
	}()
	chatguardtest.NewThrottlingGuard("")
}

func TestClock_AdvanceBack(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic for a negative duration")
		}
	}()
	new(chatguardtest.Clock).Advance(-1)
}

func TestClock_Set(t *testing.T) {
	noon := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	clock := chatguardtest.NewClock(noon)
	clock.Set(noon.Add(time.Hour))
	clock.Advance(time.Minute)
	if now := clock.Now(); !now.Equal(noon.Add(61 * time.Minute)) {
		t.Errorf("now %s", now)
	}
}

// The race detector checks the locks.
func TestConcurrentUse(t *testing.T) {
	var clock chatguardtest.Clock
	start := clock.Now()
	c := chatguardtest.NewChecker(slices.Repeat([]chatguard.Verdict{chatguardtest.Allowed()}, 50)...)
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			for range 10 {
				clock.Advance(time.Second)
				if _, err := c.Check(t.Context(), anna); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if passed := clock.Now().Sub(start); passed != 100*time.Second || len(c.Messages()) != 100 {
		t.Errorf("%s passed, and %d messages were judged", passed, len(c.Messages()))
	}
}

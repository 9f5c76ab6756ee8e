package live

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

func TestSwitches_ChangeSendsStatus(t *testing.T) {
	m := newModel(t)
	r := joinFeed(t, m.feed, channelID)
	for _, switched := range [][]string{nil, {channelID}} {
		if err := m.announceSwitched(switched); err != nil {
			t.Fatal(err)
		}
		if want := 2 + 2*len(switched); len(r.frames) != want {
			// snapshot and status, then policy and status
			t.Errorf("%v: %d frames, want %d", switched, len(r.frames), want)
		}
	}
}

// Changed does not wait, because its caller may hold a lock that the Server needs.
func TestChanged_NeverWaits(t *testing.T) {
	m := newModel(t)
	m.feed.mu.Lock()
	m.Changed(channelID)
	m.Changed(channelID)
	m.feed.mu.Unlock()
}

// TestAmended_TimeoutInOtherChatIsOver checks that a user can be pardoned after a timeout in a chat
// that reports none.
func TestAmended_TimeoutInOtherChatIsOver(t *testing.T) {
	m, now := newModel(t), time.Now()
	m.board.put(entry(1, "a", now.Add(-time.Minute), 0), "", chatguard.Message{Cost: 1}, now)
	m.board.assume(rowKey{channelID, "a"}, &journal.Silence{At: now, Until: now.Add(time.Second)}, now)
	m.board.settle(m.board.rows[rowKey{channelID, "a"}], now.Add(time.Second))
	m.Amended(channelID, "a")
	if r, ok := m.board.find(channelID, "a"); !ok || r.Silenced != nil {
		t.Errorf("listed %v, %+v", ok, r.Throttled)
	}
}

// TestAmended_BanInOtherChat checks that a ban in a chat that reports none outlasts its strikes,
// and that a pardon ends it, even if earlier strikes remain.
func TestAmended_BanInOtherChat(t *testing.T) {
	const room = "check:lobby"
	synctest.Test(t, func(t *testing.T) {
		m, user := newModel(t), chatguard.User{ID: "a"}
		policy := m.opts.Guard.Policy()
		policy.Mode, policy.Penalties.Ladder = chatguard.ModeEnforce, []chatguard.Penalty{{Action: chatguard.ActionBan}}
		if err := m.opts.Guard.SetPolicy(policy); err != nil {
			t.Fatal(err)
		}
		m.opts.Guard.AddObserver(m.Observe)
		throttle := func() (v chatguard.Verdict) {
			for {
				var err error
				if v, err = m.opts.Guard.Check(t.Context(), chatguard.Message{ChannelID: room, User: user}); err != nil {
					t.Fatal(err)
				}
				if v.Throttled() {
					return v
				}
			}
		}
		want := func(when string, banned bool) {
			t.Helper()
			m.Amended(room, user.ID)
			r, ok := m.board.find(room, user.ID)
			if !ok || (r.Silenced != nil) != banned {
				t.Errorf("%s: listed %v, %+v", when, ok, r.Throttled)
			}
		}
		throttle()
		time.Sleep(policy.Penalties.ForgetAfter + time.Second)
		want("after the strikes", true)
		throttle()
		time.Sleep(policy.Penalties.StrikeEvery)
		last := throttle()
		want("banned again", true)
		if _, err := m.opts.Guard.Pardon(t.Context(), last); err != nil {
			t.Fatal(err)
		}
		want("pardoned", false)
	})
}

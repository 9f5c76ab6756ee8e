package live

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// silencedUser is what is true about one user: an oracle for the user's row.
type silencedUser struct {
	at, limitEnds time.Time // last throttled message, and when limits let the user write
	limited       bool
	silence       *journal.Silence
}

// mayWrite returns when the user may write, and whether they ever may.
func (u *silencedUser) mayWrite(now time.Time) (at time.Time, ever bool) {
	at = now
	if u.limited && u.limitEnds.After(at) {
		at = u.limitEnds
	}
	if s := u.silence; s != nil && s.Banned {
		return at, false
	} else if s != nil && s.Until.After(at) {
		at = s.Until
	}
	return at, true
}

// TestRow_SaysWhenUserMayWrite checks a row against an oracle: after any sequence of throttled and
// allowed messages, timeouts, bans, their ends and waiting, it says when its user may really write.
func TestRow_SaysWhenUserMayWrite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, u, now, id := newBoard(), silencedUser{}, noon, int64(0)
		key := rowKey{channelID, "a"}
		silence := func(s *journal.Silence) {
			u.silence = s
			b.silence(key, s, journal.Person{Login: "ann"}, now)
		}
		seconds := func(label string, most int) time.Duration {
			return time.Duration(rapid.IntRange(1, most).Draw(t, label)) * time.Second
		}
		t.Repeat(map[string]func(*rapid.T){
			"throttled": func(*rapid.T) {
				id++
				e := entry(id, "a", now, seconds("wait", 900))
				u.at, u.limitEnds, u.limited = now, e.MaySpeakAt.Time, true
				b.put(e, "", chatguard.Message{Cost: 1}, now)
			},
			"allowed": func(*rapid.T) {
				u.limited = false
				b.allow(channelID, "a", now)
			},
			"timed out": func(*rapid.T) {
				silence(&journal.Silence{At: now, Until: now.Add(seconds("length", 1800)), By: "anna"})
			},
			"banned": func(*rapid.T) { silence(&journal.Silence{At: now, Banned: true}) },
			"lifted": func(*rapid.T) { silence(nil) },
			"waits": func(*rapid.T) {
				now = now.Add(seconds("pause", 7200))
				b.expire(now)
			},
			"": func(t *rapid.T) {
				if u.limited && !u.limitEnds.After(now) {
					u.limited = false
				}
				if u.silence != nil && !u.silence.IsInForce(now) {
					u.silence = nil
				}
				if u.silence != nil && u.silence.Banned && !u.silence.At.Add(bansListed).After(now) && !u.limited && !u.at.Add(Recent).After(now) {
					return // the ban may have left the board
				}
				checkRow(t, b, key, &u, now)
			},
		})
	})
}

// checkRow compares the row of a user with what is true.
func checkRow(t *rapid.T, b *board, key rowKey, u *silencedUser, now time.Time) {
	at, ever := u.mayWrite(now)
	isHeld := at.After(now) || !ever && (u.silence.At.Add(Recent).After(now) || u.limited)
	r, ok := b.find(key.channel, key.user)
	if !ok {
		if isHeld || u.silence != nil || u.at.Add(Recent).After(now) {
			t.Fatalf("no row, want one of %+v", u)
		}
		return
	}
	switch {
	case r.Held != isHeld, b.len(channelID) != map[bool]int{true: 1}[isHeld]:
		t.Fatalf("held: %v, counted: %d, want %v: %+v", r.Held, b.len(channelID), isHeld, r.Throttled)
	case (r.Silenced == nil) != (u.silence == nil):
		t.Fatalf("silenced: %+v, want %+v", r.Silenced, u.silence)
	case r.Never == ever && (r.Held || r.Silenced != nil):
		t.Fatalf("never: %v: %+v", r.Never, r.Throttled)
	case r.Held && ever && !r.MaySpeakAt.Equal(at):
		t.Fatalf("may write at %s, want %s: %+v", r.MaySpeakAt, at, r.Throttled)
	}
}

// TestBoard_SilencedUserWithoutMessage checks that a user who was never throttled is listed with
// their names while they are timed out, and that a ban leaves the board after a day.
func TestBoard_SilencedUserWithoutMessage(t *testing.T) {
	b, key := newBoard(), rowKey{channelID, "a"}
	b.silence(key, nil, journal.Person{}, noon)
	if len(b.rows) != 0 {
		t.Error("listed without a reason")
	}
	b.silence(key, &journal.Silence{At: noon, Until: noon.Add(time.Hour), By: "twitch:kim"}, journal.Person{Login: "ann"}, noon)
	b.name(channelID, journal.Person{UserID: "a", Login: "ann", DisplayName: "Ann", Roles: chatguard.Roles{"vip"}})
	r, _ := b.find(channelID, "a")
	if !r.Held || r.Login != "ann" || r.DisplayName != "Ann" || !r.Roles.Has("vip") || !r.At.Equal(noon) || r.Total != 0 || r.Limit != "" {
		t.Errorf("%+v", r.Throttled)
	}
	b.expire(noon.Add(time.Hour))
	if len(b.rows) != 0 {
		t.Error("still listed after the timeout")
	}
	b.silence(key, &journal.Silence{At: noon, Banned: true}, journal.Person{}, noon)
	b.expire(noon.Add(bansListed - 1))
	if r, ok := b.find(channelID, "a"); !ok || r.Held || r.Silenced == nil || !r.Never {
		t.Errorf("%v %+v", ok, r.Throttled)
	}
	b.expire(noon.Add(bansListed))
	if len(b.rows) != 0 {
		t.Error("still listed a day after the ban")
	}
}

// TestBoard_AssumedSilence checks a penalty in a chat that doesn't report timeouts: it
// silences the user, a shorter one doesn't replace it, and an allowed message ends it.
func TestBoard_AssumedSilence(t *testing.T) {
	b, key := newBoard(), rowKey{channelID, "a"}
	b.put(entry(1, "a", noon, time.Second), "", chatguard.Message{Cost: 1}, noon)
	b.assume(key, &journal.Silence{At: noon, Until: noon.Add(time.Hour)}, noon)
	b.assume(key, &journal.Silence{At: noon, Until: noon.Add(time.Minute)}, noon)
	b.expire(noon.Add(time.Minute))
	if r, _ := b.find(channelID, "a"); !r.Held || !r.MaySpeakAt.Equal(noon.Add(time.Hour)) {
		t.Errorf("%+v", r.Throttled)
	}
	b.allow(channelID, "a", noon.Add(2*time.Minute))
	if r, _ := b.find(channelID, "a"); r.Held || r.Silenced != nil {
		t.Errorf("%+v", r.Throttled)
	}
	b.assume(rowKey{channelID, "b"}, &journal.Silence{At: noon, Until: noon.Add(time.Hour)}, noon)
	if len(b.rows) != 1 {
		t.Error("a row without a message")
	}
}

// TestBoard_SilencedUsersAreBounded checks that timeouts from chat can't fill the memory.
func TestBoard_SilencedUsersAreBounded(t *testing.T) {
	b := newBoard()
	for i := range MaxRows + 10 {
		b.silence(rowKey{channelID, fmt.Sprint("u", i)}, &journal.Silence{At: noon, Until: noon.Add(time.Duration(i+1) * time.Second)}, journal.Person{}, noon)
	}
	if _, ok := b.find(channelID, fmt.Sprint("u", MaxRows+9)); len(b.rows) != MaxRows || !ok {
		t.Errorf("%d rows; the longest is kept: %v", len(b.rows), ok)
	}
}

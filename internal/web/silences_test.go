//go:build !race

package web

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web/live"
)

// until reads frames until a user's row is as wanted, and returns the row.
func (l *listener) until(user string, isWanted func(live.Throttled) bool) live.Throttled {
	l.Helper()
	for {
		for _, u := range l.nextAny().Users {
			if u.UserID == user && isWanted(u) {
				return u
			}
		}
	}
}

// TestSilence_OnAllDashboards checks that every open dashboard learns of a timeout, a ban and their
// ends, also of those given on Twitch, and that a row says when its user may really write.
func TestSilence_OnAllDashboards(t *testing.T) {
	d := dash(t)
	d.stopClock()
	feeds := []*listener{d.listen(), d.listenAgain()}
	d.say(spammer, 4) // the limit lets them write again in 10 minutes
	limit := feeds[0].until(spammer.ID, func(u live.Throttled) bool { return u.Held && u.Count == 1 }).MaySpeakAt.Time
	check := func(name string, isWanted func(live.Throttled) bool) {
		t.Helper()
		for i, l := range feeds {
			l.until(spammer.ID, isWanted)
			t.Log(name, "on dashboard", i)
		}
	}
	d.act("POST", "timeout", timeoutWanted{Length: "1h"})
	check("timed out by the owner", func(u live.Throttled) bool {
		return u.Held && u.Silenced != nil && u.Silenced.By == "owner" && u.MaySpeakAt.Equal(d.now().Add(time.Hour)) &&
			u.Act != nil && u.Act.Action == journal.UserTimedOut && u.Act.Author == "owner"
	})
	d.chat.silence(spammer.ID, journal.Silence{Banned: true, By: "twitch:kim"})
	check("banned on Twitch", func(u live.Throttled) bool {
		return u.Held && u.Never && u.MaySpeakAt.IsZero() && u.Silenced != nil && u.Silenced.By == "twitch:kim"
	})
	d.act("DELETE", "ban", nil)
	check("unbanned", func(u live.Throttled) bool {
		return u.Held && u.Silenced == nil && u.MaySpeakAt.Equal(limit) && u.Act != nil && u.Act.Action == journal.UserLifted
	})
	d.do("POST", "/api/v1/channels/7/users/42/pardon", nil, asOwner)
	check("pardoned", func(u live.Throttled) bool { return u.Act != nil && u.Act.Action == journal.UserPardoned })
}

// TestSilence_PartlyPardoned checks that every open dashboard learns that a pardon left a timeout
// in force, and that those that only the records know come onto the dashboard again.
func TestSilence_PartlyPardoned(t *testing.T) {
	d := dash(t, addTimeouts(t))
	d.stopClock()
	l := d.listen()
	d.spam()
	d.flush()
	d.lifting.set(errors.New("Twitch doesn't answer"))
	pardon := func() { d.do("POST", spammerPath+"/pardon", nil, asOwner) }
	pardon()
	l.until(spammer.ID, func(u live.Throttled) bool { return u.Act != nil && u.Act.Partial })
	d.act("POST", "timeout", timeoutWanted{Length: "1h"})
	l.until(spammer.ID, func(u live.Throttled) bool { return u.Silenced != nil && !u.Act.Partial })
	d.flush()
	d.chat.forget(spammer.ID)
	d.server.Silenced(channelID, spammer.ID, "")
	l.until(spammer.ID, func(u live.Throttled) bool { return u.Silenced == nil })
	pardon()
	l.until(spammer.ID, func(u live.Throttled) bool { return u.Silenced != nil && u.Silenced.By == "owner" })
}

// TestSilence_OfUserWithoutThrottledMessage checks that the feed lists a user whom a moderator
// timed out on Twitch, by the name that the database has.
func TestSilence_OfUserWithoutThrottledMessage(t *testing.T) {
	d := dash(t)
	d.stopClock()
	l := d.listen()
	quiet := chatguard.User{ID: "77", Login: "quiet", DisplayName: "Quiet"}
	d.say(quiet, 1)
	d.flush()
	d.chat.silence(quiet.ID, journal.Silence{Until: d.now().Add(time.Minute), By: "twitch:kim"})
	u := l.until(quiet.ID, func(u live.Throttled) bool { return u.Login == "quiet" })
	if !u.Held || u.DisplayName != "Quiet" || u.Total != 0 || u.Limit != "" || !u.At.Equal(d.now()) || !u.MaySpeakAt.Equal(d.now().Add(time.Minute)) {
		t.Errorf("%+v", u)
	}
	d.chat.silence(quiet.ID, journal.Silence{})
	l.until(quiet.ID, func(u live.Throttled) bool { return !u.Held && u.Silenced == nil })
}

// TestSilence_AfterRestart checks that a restart doesn't forget who is timed out or banned, by a
// person or by chatguard, and who no longer is.
func TestSilence_AfterRestart(t *testing.T) {
	ladder := func(o *Options) {
		base := o.Live.Guard.Policy()
		base.Penalties.Ladder = []chatguard.Penalty{{Action: chatguard.ActionTimeout, Duration: 2 * time.Hour}}
		if err := o.Live.Guard.SetPolicy(base); err != nil {
			t.Fatal(err)
		}
	}
	d := dashAt(t, time.Date(2026, 3, 5, 20, 7, 30, 0, time.UTC), ladder)
	v := d.say(chatguard.User{ID: "40", Login: "punished"}, 4)
	o := journal.Outcome{Entry: v.EntryID, At: d.now(), Action: chatguard.ActionTimeout, Result: journal.Done}
	d.store.Report(o)
	d.server.Report(o)
	user := func(id, what string, body any) {
		t.Helper()
		if a := d.do("POST", "/api/v1/channels/7/users/"+id+"/"+what, body, asOwner); a.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", what, a.body)
		}
	}
	user("41", "timeout", timeoutWanted{Length: "2h"})
	user("42", "timeout", timeoutWanted{Length: "1m"})
	user("43", "ban", nil)
	user("44", "ban", nil)
	d.do("DELETE", "/api/v1/channels/7/users/44/ban", nil, asOwner)
	d.flush()
	d.advance(time.Hour)
	d.restart()
	l := d.listen()
	found := map[string]live.Throttled{}
	for len(found) < 3 {
		for _, u := range l.nextAny().Users {
			found[u.UserID] = u
		}
	}
	if u := found["40"]; u.Login != "punished" || !u.Held || u.Silenced.By != journal.ProgramAuthor || !u.MaySpeakAt.Equal(d.now().Add(time.Hour)) {
		t.Errorf("timed out by chatguard: %+v %+v", u, u.Silenced)
	}
	if u := found["41"]; !u.Held || u.Silenced.By != "owner" || !u.MaySpeakAt.Equal(d.now().Add(time.Hour)) {
		t.Errorf("timed out: %+v %+v", u, u.Silenced)
	}
	if u := found["43"]; u.Held || !u.Never || !u.Silenced.Banned {
		t.Errorf("banned: %+v %+v", u, u.Silenced)
	}
}

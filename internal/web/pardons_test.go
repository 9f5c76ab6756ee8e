//go:build !race

package web

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
)

// addTimeouts returns an option that makes each strike bring a timeout of 10 minutes.
func addTimeouts(t testing.TB) func(*Options) {
	return func(o *Options) {
		t.Helper()
		base := o.Live.Guard.Policy()
		base.Penalties.Ladder = []chatguard.Penalty{{Action: chatguard.ActionTimeout, Duration: 10 * time.Minute}}
		if err := inner.At(o.Live.Guard, time.Now()).SetPolicy(base); err != nil {
			t.Fatal(err)
		}
	}
}

// spam lets the spammer write seven messages. Four of them are throttled and bring two strikes and
// a timeout; the last one brings no strike.
func (d *dashboard) spam() {
	d.Helper()
	d.say(spammer, 3)
	for _, pause := range []time.Duration{0, time.Second, 10 * time.Second, time.Second} {
		d.advance(pause)
		v := d.say(spammer, 1)
		o := journal.Outcome{Entry: v.EntryID, At: d.now(), Action: chatguard.ActionTimeout, Result: journal.Done}
		d.store.Report(o)
		d.server.Report(o)
	}
	d.flush()
}

// pardonSpammer pardons the spammer as the owner.
func (d *dashboard) pardonSpammer() pardonedUser {
	d.Helper()
	return decode[pardonedUser](d, d.do("POST", spammerPath+"/pardon", nil, asOwner))
}

func TestPardonUser(t *testing.T) {
	d := dash(t, addTimeouts(t))
	d.spam()
	if rows := d.throttledUsers(); len(rows) != 1 || rows[0].Count != 4 || rows[0].Strikes != 2 {
		t.Fatalf("%+v", rows)
	}
	done := d.pardonSpammer()
	if !done.Saved || done.Messages != 4 || done.Strikes != 2 || done.StrikesLeft != 0 || done.Silence != journal.SilenceLifted || done.By != "owner" || done.ID == 0 {
		t.Errorf("%+v", done)
	}
	if done.Held == nil || done.Held.Limit != "burst" || done.Held.MaySpeakAt.Before(d.now()) {
		t.Errorf("held by %+v", done.Held)
	}
	if d.lifts.Load() != 1 {
		t.Errorf("lifted %d times", d.lifts.Load())
	}
	if rows := d.throttledUsers(); len(rows) != 1 || rows[0].Strikes != 0 {
		t.Errorf("on the board: %+v", rows)
	}
	if c := d.card(spammer.ID); c.Strikes != 0 || !c.SilentUntil.IsZero() {
		t.Errorf("the card: %+v", c)
	}
	d.wantPardoned("pardoned", 4)
	page := decode[auditAnswer](t, d.do("GET", "/api/v1/audit?channel="+channelID, nil, asOwner))
	if m := page.Changes[0].Message; m == nil || m.Entry != done.Last || m.Text == "" {
		t.Errorf("the audit: %+v", page.Changes[0])
	}
	again := decode[pardonedUser](t, d.do("POST", spammerPath+"/pardon", nil, setBearer(d.newToken(auth.Moderate))))
	if !again.Again || again.By != "owner" || again.ID != done.ID || len(d.store.audits) != 1 {
		t.Errorf("pardoned by a second moderator: %+v, audit %+v", again, d.store.audits)
	}
}

// wantPardoned fails the test unless the journal has exactly that many entries pardoned by the
// owner.
func (d *dashboard) wantPardoned(when string, want int) {
	d.Helper()
	n := 0
	for _, e := range decode[entryPage](d, d.do("GET", "/api/v1/journal", nil, asOwner)).Entries {
		if e.Pardoned != nil && e.Pardoned.By == "owner" {
			n++
		}
	}
	if n != want {
		d.Errorf("%s: the journal knows of %d pardoned entries, want %d", when, n, want)
	}
}

func TestPardonUser_Refused(t *testing.T) {
	d := dash(t)
	d.wantProblem("nobody throttled", "POST", spammerPath+"/pardon", nil, owned, 404, "nothing to pardon")
	for _, id := range []string{"1", "x", "99999999999999999999"} {
		d.wantProblem("no such pardon", "DELETE", spammerPath+"/pardon/"+id, nil, owned, http.StatusConflict, "can't be undone any more")
	}
	d.say(spammer, 4)
	d.store.reads.set(errors.New("damaged: /secret/path"))
	d.wantProblem("not read", "POST", spammerPath+"/pardon", nil, owned, http.StatusServiceUnavailable, "the database is failing")
}

func TestUnpardonUser(t *testing.T) {
	d := dash(t, addTimeouts(t))
	d.spam()
	done := d.pardonSpammer()
	path := spammerPath + "/pardon/" + fmt.Sprint(done.ID)
	for range 2 { // the second time has no effect
		undone := decode[unpardoned](t, d.do("DELETE", path, nil, asOwner))
		if !undone.Saved || undone.Messages != 4 || undone.Strikes != 2 || !undone.Lifted {
			t.Errorf("%+v", undone)
		}
	}
	if rows := d.throttledUsers(); len(rows) != 1 || rows[0].Strikes != 2 || len(d.store.audits) != 2 {
		t.Errorf("%+v, audit %+v", rows, d.store.audits)
	}
	d.wantPardoned("undone", 0)
	again := d.pardonSpammer()
	d.wantPardoned("pardoned again", 4)
	d.say(spammer, 1)
	d.wantProblem("after another strike", "DELETE", spammerPath+"/pardon/"+fmt.Sprint(again.ID), nil, owned, http.StatusConflict, "have changed since the pardon")
	d.breakDatabase(time.Minute)
	if done := d.pardonSpammer(); done.Saved || done.Messages != 1 {
		t.Errorf("unsaved: %+v", done)
	}
}

// After a restart, the server still knows which messages a row stands for and what was pardoned
// before.
func TestPardonUser_AfterRestart(t *testing.T) {
	d := dash(t, addTimeouts(t))
	d.spam()
	d.restart()
	done := d.pardonSpammer()
	if done.Messages != 4 || done.Strikes != 2 || done.StrikesLeft != 0 {
		t.Errorf("%+v", done)
	}
	d.restart()
	if again := d.pardonSpammer(); !again.Again || again.ID != 0 || again.Strikes != 0 {
		t.Errorf("pardoned before the restart: %+v", again)
	}
	d.wantProblem("undone after a restart", "DELETE", spammerPath+"/pardon/"+fmt.Sprint(done.ID), nil, owned, http.StatusConflict, "chatguard was restarted")
}

// A limit shared by everyone gives no strike, and a pardon does not lift it.
func TestPardonUser_RaidLimit(t *testing.T) {
	d := dash(t, addLimits(t, chatguard.Limit{Name: "crowd", Algorithm: chatguard.FixedWindow, Per: chatguard.PerChannel, Messages: 2, Every: time.Hour}))
	d.stopClock()
	d.say(spammer, 4)
	d.flush()
	if done := d.pardonSpammer(); done.Messages != 2 || done.Strikes != 0 || done.Held == nil || done.Held.Per != chatguard.PerChannel {
		t.Errorf("%+v, held by %+v", done, done.Held)
	}
}

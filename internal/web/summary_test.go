//go:build !race

package web

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/policies"
)

var (
	floodAnna = chatguard.User{ID: "61", Login: "anna", DisplayName: "Anna"}
	floodBob  = chatguard.User{ID: "62", Login: "bob", DisplayName: "Bob"}
)

// recordFlood records five messages of a user within five seconds. Two of them are throttled.
func (d *dashboard) recordFlood(user chatguard.User, at time.Time) {
	d.Helper()
	for n := range 5 {
		d.recordPast(user, at.Add(time.Duration(n)*time.Millisecond))
	}
}

// noteStream records a stream that began and ended so long ago. A negative end means that it runs.
func (d *dashboard) noteStream(began, ended time.Duration) {
	s := journal.Stream{ChannelID: channelID, Start: d.now().Add(-began), Seen: d.now().Add(-max(ended, 0)), Ended: ended >= 0}
	d.store.NoteStream(s)
}

func TestTop_DayAndStream(t *testing.T) {
	d := dash(t)
	d.recordFlood(floodBob, d.now().Add(-30*time.Hour-30*time.Minute)) // in the last stream
	d.recordFlood(floodAnna, d.now().Add(-90*time.Minute))
	d.recordFlood(floodAnna, d.now().Add(-20*time.Minute))
	d.recordFlood(floodBob, d.now().Add(-10*time.Minute))
	top := func(since string) topUsers {
		return decode[topUsers](t, d.do("GET", "/api/v1/channels/"+channelID+"/top?since="+since, nil, asOwner))
	}
	if a := d.do("GET", "/api/v1/channels/"+channelID+"/top?since=stream", nil, asOwner); a.StatusCode != http.StatusConflict || !strings.Contains(string(a.body), "No stream") {
		t.Errorf("no stream: %s %s", a.Status, a.body)
	}
	d.noteStream(31*time.Hour, 29*time.Hour)
	d.noteStream(time.Hour, -1)
	got := top("stream")
	if got.Throttled.Messages != 4 || got.Throttled.Users != 2 || got.Throttled.Top[0].DisplayName != "Anna" || got.Throttled.Top[0].Throttled != 2 {
		t.Errorf("in this stream: %+v", got)
	}
	if got.Before == nil || got.Before.Messages != 2 || got.Before.length().Round(time.Minute) != time.Hour {
		t.Errorf("in the same part of the last stream: %+v", got.Before)
	}
	got = top(d.now().Add(-2 * time.Hour).UTC().Format(time.RFC3339))
	if got.Throttled.Messages != 6 || got.Before != nil || got.Throttled.Top[0].Throttled != 4 {
		t.Errorf("in two hours: %+v", got)
	}
	if got = top("day"); got.Timezone == "" || got.From.After(d.now()) || d.now().Sub(got.From) > 25*time.Hour {
		t.Errorf("today: %+v", got)
	}
	for _, since := range []string{"week", d.now().Add(time.Hour).UTC().Format(time.RFC3339)} {
		d.wantStatus(since, http.StatusBadRequest, "GET", "/api/v1/channels/"+channelID+"/top?since="+since, nil, asOwner)
	}
}

// TestTop_CountsObserved checks that the sum counts the same messages as the list, after a channel
// that only observed has begun to enforce.
func TestTop_CountsObserved(t *testing.T) {
	d := dashAt(t, noon)
	decode[policies.Revised](t, d.put(func(p *chatguard.Policy) { p.Mode = chatguard.ModeObserve }))
	d.say(spammer, 5)
	decode[policies.Revised](t, d.put(func(p *chatguard.Policy) { p.Mode = chatguard.ModeEnforce }))
	d.say(spammer, 3)
	d.flush()
	d.advance(time.Second)
	got := decode[topUsers](t, d.do("GET", "/api/v1/channels/"+channelID+"/top?since=day", nil, asOwner)).Throttled
	if got.Messages != 3 || got.Observed != 2 || len(got.Top) != 1 || got.Top[0].Throttled != 3 || got.Top[0].Observed != 2 {
		t.Errorf("%+v", got)
	}
}

func (d *dashboard) summary() summaries {
	d.Helper()
	return decode[summaries](d.TB, d.do("GET", "/api/v1/channels/"+channelID+"/summary", nil, asOwner))
}

func TestSummary_Stream(t *testing.T) {
	d := dash(t)
	d.noteStream(3*time.Hour, 2*time.Hour)
	d.recordFlood(floodAnna, d.now().Add(-3*time.Hour-time.Minute)) // before
	peak := d.now().Add(-150 * time.Minute).Truncate(time.Minute)
	d.recordFlood(floodAnna, peak)
	d.recordFlood(floodBob, peak.Add(32*time.Minute)) // after
	sum := d.summary()
	last := sum.Last
	if sum.Running != nil || last == nil || last.Kind != "stream" || last.Throttled.Users != 1 || last.Throttled.Messages != 2 {
		t.Fatalf("%+v", last)
	}
	r := last.Recorded
	if r == nil || r.Messages != 5 || r.Users != 1 || r.Peak == nil || r.Peak.Messages != 5 || r.InForce == nil || r.InForce.Users != 1 || r.InForce.Messages != 2 {
		t.Fatalf("recorded: %+v", r)
	}
	loose := d.guard.ChannelPolicy(channelID)
	loose.Limits[0].Burst = 10
	if err := d.guard.SetChannelPolicy(channelID, loose); err != nil {
		t.Fatal(err)
	}
	if r = d.summary().Last.Recorded; r.InForce.Users != 0 {
		t.Errorf("after the limits were loosened: %+v", r.InForce)
	}
	d.noteStream(time.Hour, -1)
	if sum = d.summary(); sum.Running == nil || sum.Running.Throttled.Messages != 0 || sum.Last == nil {
		t.Errorf("while another runs: %+v", sum)
	}
}

func TestSummary_ChangesOfPeople(t *testing.T) {
	d := dash(t)
	d.noteStream(3*time.Hour, time.Hour)
	audit := func(ago time.Duration, action journal.AuditAction, user string) {
		a := journal.Audit{At: d.now().Add(-ago), Author: "ada", Action: action, ChannelID: channelID, UserID: user}
		if _, err := d.store.Store.Record(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	audit(4*time.Hour, journal.UserGranted, "61")
	audit(150*time.Minute, journal.UserPardoned, "61")
	audit(140*time.Minute, journal.UserPardoned, "62")
	audit(130*time.Minute, journal.UserUnpardoned, "62")
	audit(125*time.Minute, journal.UserGranted, "61")
	audit(122*time.Minute, journal.RaidSwitched, "")
	for range summaryChanges + 2 {
		audit(121*time.Minute, journal.PolicyChanged, "")
	}
	audit(30*time.Minute, journal.PolicyChanged, "")
	if last := d.summary().Last; last.Pardoned != 1 || last.Grants != 1 || len(last.Changes) != summaryChanges || last.MoreChanges != 3 || last.Changes[0].Author != "ada" {
		t.Errorf("%+v", last)
	}
}

func TestSummary_DayWithoutStreams(t *testing.T) {
	d := dash(t)
	last := d.summary().Last
	if last == nil || last.Kind != "day" || last.Until.After(d.now()) || last.length() < 22*time.Hour || last.length() > 26*time.Hour {
		t.Errorf("%+v", last)
	}
}

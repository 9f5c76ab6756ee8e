package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/roles"
	"github.com/chatguard/chatguard/internal/waittest"
	"github.com/chatguard/chatguard/internal/web/live"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// entry returns an entry of a user who may speak again after wait.
func entry(id int64, user string, at time.Time, wait time.Duration) journal.Entry {
	return journal.Entry{
		ID: chatguard.EntryID(id), At: at, ChannelID: channelID, UserID: user, Limit: "burst", MaySpeakAt: journal.OptionalTime{Time: at.Add(wait)},
		Outcome: journal.Outcome{Entry: chatguard.EntryID(id), Result: journal.Pending},
	}
}

// A message that is never allowed has null instead of a time in every answer.
func TestBoard_NeverAllowedMaySpeakAtIsNull(t *testing.T) {
	d := dash(t)
	l := d.listen()
	l.next(live.SnapshotFrame)
	v, err := d.guard.Check(t.Context(), chatguard.Message{ID: "m1", ChannelID: channelID, User: spammer, Text: "hello", SentAt: d.now(), Cost: 1000})
	if err != nil || !v.Never {
		t.Fatalf("%+v, %v", v, err)
	}
	var frame []byte
	for !strings.Contains(string(frame), `"users":[{`) {
		if _, frame, err = l.conn.Read(l.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"verdict":   string(v.AppendJSON(nil)),
		"live feed": string(frame),
		"throttled": string(d.do("GET", "/api/v1/throttled?channel="+channelID, nil, asOwner).body),
		"journal":   string(d.do("GET", "/api/v1/journal?channel="+channelID, nil, asOwner).body),
		"user":      string(d.do("GET", spammerPath, nil, asOwner).body),
		"CSV":       string(d.do("GET", "/api/v1/journal?format=csv&channel="+channelID, nil, asOwner).body),
	} {
		if strings.Contains(text, "0001-01-01") && strings.Contains(text, `"may_speak_at":"`) || name == "verdict" && strings.Contains(text, "may_speak_at") {
			t.Errorf("%s: %s", name, text)
		}
		if isNull := strings.Contains(text, `"may_speak_at":null`); isNull != (name != "verdict" && name != "CSV") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

func TestPreload_ShowsThrottledUsers(t *testing.T) {
	d := dash(t)
	d.say(chatguard.User{ID: "a"}, 4)
	d.stop()
	d.start(d.opts)
	now := d.now()
	d.server.Preload([]journal.Entry{
		entry(3, "a", now.Add(-time.Second), time.Minute),
		entry(2, "a", now.Add(-2*time.Second), time.Minute),
		entry(1, "over", now.Add(-time.Hour), time.Minute),
		entry(4, "allowed since", now, time.Minute), // the Guard throttles nobody else
	})
	users := d.throttledUsers()
	if len(users) != 1 || users[0].Count != 2 || users[0].Outcome.Entry != 3 {
		t.Errorf("users %+v", users)
	}
	d.advance(10 * time.Minute)
	if users := d.throttledUsers(); len(users) != 0 {
		t.Errorf("10 minutes later: %+v", users)
	}
}

func TestBoard_ObservedUsers(t *testing.T) {
	d := dash(t)
	d.put(func(p *chatguard.Policy) { p.Mode = chatguard.ModeObserve })
	d.say(spammer, 5)
	users := d.throttledUsers()
	if len(users) != 1 || !users[0].Observed || users[0].Count != 2 || users[0].Penalty.Action != chatguard.ActionDelete {
		t.Errorf("users %+v", users)
	}
}

func TestObserve_AllowedMessageAllocatesNothing(t *testing.T) {
	runAlone(t) // not all measurements may meet allocations of other tests
	d := dash(t)
	d.say(spammer, 4)
	m := chatguard.Message{ChannelID: channelID, User: chatguard.User{ID: "43"}}
	v := chatguard.Verdict{At: noon, ChannelID: channelID, UserID: "43", Allowed: true}
	if n := waittest.Allocs(func() { d.server.Observe(m, v) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestBoard_OldPolicyVerdictIsJudgedAgain(t *testing.T) {
	d := dash(t)
	decode[journal.Revision](t, d.put(burst(9)))
	v := chatguard.Verdict{At: d.now(), ChannelID: channelID, UserID: "late", Limit: "burst", RetryAfter: time.Hour, EntryID: 1}
	d.server.Observe(chatguard.Message{ChannelID: channelID}, v)
	d.server.Changed(channelID) // as if the pump ran after the verdict
	l := d.listen()
	for fr := l.next(live.SnapshotFrame); len(released(fr)) == 0; fr = l.next(live.ThrottledFrame) {
	}
	if users := d.throttledUsers(); len(users) != 0 {
		t.Errorf("users %+v", users)
	}
}

func TestBoard_NewPolicyKeepsOutcome(t *testing.T) {
	d := dash(t)
	d.say(spammer, 4)
	decode[journal.Revision](t, d.put(func(p *chatguard.Policy) { p.Mode = chatguard.ModeObserve }))
	if users := d.throttledUsers(); len(users) != 1 || !users[0].Observed || users[0].Outcome.Result != journal.Pending {
		t.Errorf("users %+v", users)
	}
}

// GET /throttled lists who is throttled now, and with within also who was throttled a short while
// ago.
func TestThrottled_Within(t *testing.T) {
	d := dash(t, twoChannels, func(o *Options) {
		o.Live.ColorOf = func(channel, user string) string {
			if channel == channelID && user == spammer.ID {
				return "#1e90ff"
			}
			return ""
		}
	})
	d.stopClock()
	colored := spammer
	colored.Roles = chatguard.Roles{roles.Subscriber}
	d.say(colored, 5)
	d.advance(5 * time.Minute)
	d.say(chatguard.User{ID: "43"}, 4)
	moderator := spammer
	moderator.Roles = chatguard.Roles{chatguard.RoleModerator}
	d.say(moderator, 1)
	list := func(query string) (ids []string) {
		for _, u := range decode[map[string][]live.Throttled](t, d.do("GET", "/api/v1/throttled?channel="+channelID+query, nil, asOwner))["users"] {
			ids = append(ids, fmt.Sprint(u.UserID, u.Held))
			if u.UserID == spammer.ID && (u.Text != "hello everyone" || u.Color != "#1e90ff" || !u.Roles.Has(roles.Subscriber) || u.MessageID == "" || u.Total != 2) {
				t.Errorf("row %+v", u)
			}
		}
		return ids
	}
	for query, want := range map[string][]string{"": {"43true"}, "&within=299": {"43true"}, "&within=600": {"42false", "43true"}} {
		if got := list(query); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	for channel, want := range map[string]int{"": 1, channelID: 1, hiddenID: 0} {
		if n := decode[live.Status](t, d.do("GET", "/api/v1/status?channel="+channel, nil, asOwner)).ThrottledUsers; n != want {
			t.Errorf("channel %q has %d throttled users", channel, n)
		}
	}
	d.advance(live.Recent)
	if got := list("&within=600"); len(got) != 0 {
		t.Errorf("10 minutes later: %v", got)
	}
	for _, wrong := range []string{"0", "601", "10m"} {
		d.wantStatus(fmt.Sprintf("within=%s", wrong), http.StatusUnprocessableEntity, "GET", "/api/v1/throttled?within="+wrong, nil, asOwner)
	}
}

func TestPreload_ShowsRecentUsers(t *testing.T) {
	d := dash(t)
	d.say(spammer, 4)
	d.advance(time.Minute)
	moderator := spammer
	moderator.Roles = chatguard.Roles{chatguard.RoleModerator}
	d.say(moderator, 1)
	d.flush()
	d.restart()
	users := d.server.Throttled(channelID, live.Recent)
	if len(users) != 1 || users[0].UserID != spammer.ID || users[0].Text != "hello everyone" {
		t.Errorf("users %+v", users)
	}
}

// However many users are throttled, an answer has at most mostThrottled of them, and says that
// there are more.
func TestThrottled_Bounded(t *testing.T) {
	d := dash(t)
	entries := make([]journal.Entry, mostThrottled+1)
	for i := range entries {
		entries[i] = entry(int64(i+1), fmt.Sprint(i), d.now(), time.Hour)
	}
	d.server.Preload(entries)
	got := decode[throttledUsers](t, d.do("GET", "/api/v1/throttled?within=60&channel="+channelID, nil, asOwner))
	if len(got.Users) != mostThrottled || !got.More {
		t.Errorf("%d users, more: %v", len(got.Users), got.More)
	}
}

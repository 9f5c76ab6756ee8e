package web

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/internal/roles"
	"github.com/chatguard/chatguard/internal/web/live"
)

// channelPath is the API path of the tests' channel.
const channelPath = "/api/v1/channels/" + channelID

// newcomer writes in the channel for the first time.
var newcomer = chatguard.User{ID: "44", Login: "newcomer", Roles: chatguard.Roles{roles.FirstTimer}}

// getChannel returns the channel as GET /channels shows it.
func (d *dashboard) getChannel() live.Channel {
	d.Helper()
	return decode[map[string][]live.Channel](d, d.do("GET", "/api/v1/channels", nil, asOwner))["channels"][0]
}

func TestSwitches_PauseUntilResume(t *testing.T) {
	d := dash(t)
	tag := d.do("GET", policyPath, nil, asOwner).Header.Get("ETag")
	if a := decode[switchedTo](t, d.do("POST", channelPath+"/pause", nil, asOwner)); !a.Saved || !a.Until.IsZero() {
		t.Errorf("answered %+v", a)
	}
	if v := d.say(spammer, 4); !v.Allowed || !v.Observed {
		t.Errorf("paused, and a fourth message is %+v", v)
	}
	if c := d.getChannel(); c.PausedBy != auth.OwnerName || !c.RaidUntil.IsZero() {
		t.Errorf("listed as %+v", c)
	}
	if now := d.do("GET", policyPath, nil, asOwner); now.Header.Get("ETag") != tag || decode[chatguard.Policy](t, now).Mode != chatguard.ModeEnforce {
		t.Error("the policy that can be edited has changed")
	}
	decode[switchedTo](t, d.do("POST", channelPath+"/resume", nil, asOwner))
	if v := d.say(spammer, 1); v.Allowed {
		t.Errorf("resumed, and a fifth message is %+v", v)
	}
	if a := d.do("GET", "/api/v1/channels", nil, asOwner); strings.Contains(string(a.body), "paused_by") {
		t.Errorf("resumed, and listed as %s", a.body)
	}
}

func TestSwitches_RaidLength(t *testing.T) {
	d := dash(t)
	d.stopClock()
	for _, test := range []struct {
		body any
		want time.Duration
	}{
		{nil, 10 * time.Minute},
		{map[string]any{}, 10 * time.Minute},
		{map[string]any{"for": nil}, 10 * time.Minute},
		{map[string]any{"for": "1h30m"}, 90 * time.Minute},
	} {
		a := decode[switchedTo](t, d.do("POST", channelPath+"/raid", test.body, asOwner))
		if want := d.now().Add(test.want).Truncate(time.Second); !a.Saved || !a.Until.Equal(want) {
			t.Errorf("%v: answered %+v, want %s", test.body, a, want)
		}
		if c := d.getChannel(); c.RaidBy != auth.OwnerName || !c.RaidUntil.Equal(a.Until) {
			t.Errorf("%v: listed as %+v", test.body, c)
		}
	}
	if v := d.say(newcomer, 2); v.Allowed {
		t.Error("a raid, and somebody new writes twice")
	}
	decode[switchedTo](t, d.do("DELETE", channelPath+"/raid", nil, asOwner))
	if a := d.do("GET", "/api/v1/channels", nil, asOwner); strings.Contains(string(a.body), "raid_until") || strings.Contains(string(a.body), "raid_by") {
		t.Errorf("ended, and listed as %s", a.body)
	}
	if v := d.say(newcomer, 1); !v.Allowed {
		t.Error("the raid is over, and somebody new can't write twice")
	}
}

// untilChannel reads frames until the channel is as wanted.
func (l *listener) untilChannel(isWanted func(live.Channel) bool) live.Channel {
	l.Helper()
	for {
		if fr := l.nextAny(); len(fr.Channels) > 0 && isWanted(fr.Channels[0]) {
			return fr.Channels[0]
		}
	}
}

// TestSwitches_RaidProposed checks that raid mode is proposed on the live feed and in the list of
// channels until somebody turns on raid mode or a pause, and no more after that.
func TestSwitches_RaidProposed(t *testing.T) {
	for _, test := range []struct{ name, on, off string }{{"raid mode", "POST /raid", "DELETE /raid"}, {"a pause", "POST /pause", "POST /resume"}} {
		d := dash(t)
		d.stopClock()
		l := d.listen()
		press := func(request string) {
			method, path, _ := strings.Cut(request, " ")
			decode[switchedTo](t, d.do(method, channelPath+path, nil, asOwner))
		}
		isOn := func(c live.Channel) bool { return c.PausedBy != "" || !c.RaidUntil.IsZero() }
		for i := range 40 {
			d.say(chatguard.User{ID: strconv.Itoa(1000 + i), Roles: chatguard.Roles{roles.FirstTimer}}, 1)
		}
		signs := l.untilChannel(func(c live.Channel) bool { return c.RaidSigns != nil && c.RaidSigns.Messages == 40 }).RaidSigns
		if got := d.getChannel().RaidSigns; got == nil || *got != *signs || signs.Suspicious != 40 || signs.Times != 0 || !signs.Since.Equal(d.now()) {
			t.Errorf("%s: on the feed %+v, in the list %+v", test.name, signs, got)
		}
		press(test.on)
		for range 3 { // the first one may have been sent at once
			if c := l.untilChannel(isOn); c.RaidSigns != nil {
				t.Errorf("%s is on, and raid mode is proposed: %+v", test.name, c.RaidSigns)
			}
		}
		press(test.off)
		if c := l.untilChannel(func(c live.Channel) bool { return !isOn(c) }); c.RaidSigns != nil {
			t.Errorf("%s was turned off, and raid mode is proposed again: %+v", test.name, c.RaidSigns)
		}
	}
}

func TestSwitches_Refused(t *testing.T) {
	d, none := dash(t), dash(t, func(o *Options) { o.Live.Controls = nil })
	length := func(text any) map[string]any { return map[string]any{"for": text} }
	for _, path := range []string{"POST /pause", "POST /resume", "POST /raid", "DELETE /raid"} {
		method, path, _ := strings.Cut(path, " ")
		for name, test := range map[string]struct {
			on      *dashboard
			channel string
			status  int
			says    string
		}{
			"unknown channel": {d, "99", 404, `\"99\"`},
			"no switches":     {none, channelID, 501, "Pause and raid mode are unavailable"},
		} {
			test.on.wantProblem(name, method, "/api/v1/channels/"+test.channel+path, nil, owned, test.status, test.says)
		}
	}
	for _, test := range []struct {
		body   any
		status int
		says   string
	}{
		{length("soon"), 422, `such as \"10m\", \"1h30m\" or \"2d\", not \"soon\"`},
		{length("10"), 422, `not \"10\"`},
		{length("0s"), 422, `not \"0s\"`},
		{length(""), 422, "such as"},
		{length("-5m"), 422, "from 1 s to 24 h"},
		{length("24h1s"), 422, "from 1 s to 24 h"},
		{length(10), 400, `\"for\" has the wrong kind of value (number)`},
		{map[string]any{"until": "10m"}, 400, "until"},
	} {
		d.wantProblem("raid", "POST", channelPath+"/raid", test.body, owned, test.status, test.says)
	}
	if c := d.getChannel(); c.PausedBy != "" || !c.RaidUntil.IsZero() || len(d.store.audits) > 0 {
		t.Errorf("a refused request has switched something: %+v", c)
	}
}

func TestSwitches_InForceBeforeSaved(t *testing.T) {
	d := dash(t)
	d.breakDatabase(time.Minute)
	for _, path := range []string{"POST /pause", "POST /raid", "DELETE /raid", "POST /resume"} {
		method, path, _ := strings.Cut(path, " ")
		if a := d.do(method, channelPath+path, nil, asOwner); decode[switchedTo](t, a).Saved || !strings.Contains(string(a.body), `"saved":false`) {
			t.Errorf("%s %s: %s", method, path, a.body)
		}
	}
	d.store.changes.set(errors.New("disk full: /secret/path"))
	for _, path := range []string{"/pause", "/raid"} {
		a := d.do("POST", channelPath+path, nil, asOwner)
		if a.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(a.body), "a restart would undo it") || strings.Contains(string(a.body), "secret") {
			t.Errorf("%s: %s %s", path, a.Status, a.body)
		}
	}
	if c := d.getChannel(); c.PausedBy != auth.OwnerName || c.RaidUntil.IsZero() {
		t.Errorf("it is said to be done, and isn't: %+v", c)
	}
}

func TestSwitches_Feed(t *testing.T) {
	d := dash(t)
	l := d.listen()
	if fr := l.next(live.SnapshotFrame); fr.Policy.InForce != chatguard.ModeEnforce || !fr.Status.Switches {
		t.Errorf("snapshot %+v", fr.Policy)
	}
	if _, err := d.control.Switches.Pause(t.Context(), channelID, "berta"); err != nil {
		// for example from the chat
		t.Fatal(err)
	}
	if fr := l.next(live.PolicyFrame); fr.Policy.InForce != chatguard.ModeObserve || fr.Policy.Mode != chatguard.ModeEnforce || fr.Policy.Revision != nil {
		t.Errorf("paused: %+v", fr.Policy)
	}
	if fr := l.next(live.StatusFrame); fr.Channels[0].PausedBy != "berta" {
		t.Errorf("paused: %+v", fr.Channels)
	}
	if fr := d.listenAgain().next(live.SnapshotFrame); fr.Policy.InForce != chatguard.ModeObserve || fr.Channels[0].PausedBy != "berta" {
		t.Errorf("paused, to a later listener: %+v", fr)
	}
	decode[policies.Revised](t, d.put(burst(4)))
	if fr := l.next(live.PolicyFrame); fr.Policy.InForce != chatguard.ModeObserve || fr.Policy.Mode != chatguard.ModeEnforce {
		t.Errorf("paused, and the limits changed: %+v", fr.Policy)
	}
}

func TestSwitches_BoardFollowsRaid(t *testing.T) {
	d := dash(t)
	d.say(newcomer, 4)
	before := d.throttledUsers()[0].MaySpeakAt
	l := d.listen()
	l.next(live.SnapshotFrame)
	decode[switchedTo](t, d.do("POST", channelPath+"/raid", nil, asOwner))
	if fr := l.next(live.ThrottledFrame); !fr.Users[0].MaySpeakAt.After(before.Add(time.Hour)) {
		t.Errorf("one message an hour, and they may speak at %s, before at %s", fr.Users[0].MaySpeakAt, before)
	}
}

//go:build !race

package web

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/roles"
	"github.com/chatguard/chatguard/limitinfo"
)

// shownCard is the part of a card that these tests check, with the verdict in its JSON form.
type shownCard struct {
	card
	Verdict verdict `json:"verdict"`
}

func (d *dashboard) card(user string) shownCard {
	d.Helper()
	a := d.do("GET", channelPath+"/users/"+user, nil, asOwner)
	var c shownCard
	if err := json.Unmarshal(a.body, &c); err != nil || a.StatusCode != 200 {
		d.Fatalf("%s: %v: %s", a.Status, err, a.body)
	}
	return c
}

// A card has no other user's entries, although a login may equal another user's ID.
func TestUserCard_OnlyOwnEntries(t *testing.T) {
	d := dash(t)
	d.say(chatguard.User{ID: "4711", Login: "85"}, 4)
	d.say(chatguard.User{ID: "85", Login: "gardener"}, 4)
	for _, when := range []string{"while it waits", "once it is written"} {
		if c := d.card("85"); len(c.Entries) != 1 || c.Entries[0].UserID != "85" {
			t.Errorf("%s: %+v", when, c.Entries)
		}
		d.flush()
	}
}

func TestUserCard_SaysWhy(t *testing.T) {
	d := dash(t, addLimits(t, everywhere))
	vip := chatguard.User{ID: "85", Login: "gardener", Roles: chatguard.Roles{roles.VIP}}
	d.say(vip, 4)
	decode[amended](t, d.do("PUT", channelPath+"/users/85/override", chatguard.UserOverride{Timezone: "Asia/Kathmandu"}, asOwner))
	if err := inner.At(d.guard, d.now()).SetUserOverride(t.Context(), chatguard.Key{UserID: "85", Per: chatguard.PerUserEverywhere}, chatguard.UserOverride{Limits: map[string]chatguard.Override{"total": {Messages: 50}}}); err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"while it waits", "once it is written"} {
		c := d.card("85")
		if c.Login != "gardener" || !c.Roles.Has(roles.VIP) || c.LastSeen.IsZero() || c.Timezone != "Asia/Kathmandu" || c.Override.Timezone != c.Timezone {
			t.Errorf("%s: %+v", when, c)
		}
		if c.EverywhereOverride.Limits["total"].Messages != 50 || c.Limits[2].Capacity != 50 || !c.Limits[2].Own {
			t.Errorf("%s: in all channels %+v, %+v", when, c.EverywhereOverride, c.Limits)
		}
		burst, daily := c.Limits[0], c.Limits[1]
		if v := c.Verdict; v.Allowed || v.Limit != "burst" || *v.RetryAfterMS == 0 || burst.Used != 3 || burst.Remaining != 0 || daily.Remaining != 297 {
			t.Errorf("%s: %+v, %+v", when, v, c.Limits)
		}
		if len(c.Entries) != 1 || c.Entries[0].Limit != "burst" || c.Strikes != 1 || c.EntriesUnavailable {
			t.Errorf("%s: %d strikes, entries %+v", when, c.Strikes, c.Entries)
		}
		d.flush()
	}

	d.store.reads.set(errors.New("damaged"))
	c := d.card("85")
	if !c.EntriesUnavailable || c.Verdict.Limit != "burst" || c.Login != "" || len(c.Entries) > 0 {
		t.Errorf("in trouble: %+v", c)
	}
}

func TestUserCard_ExemptAndUnknown(t *testing.T) {
	d := dash(t)
	d.say(chatguard.User{ID: "86", Login: "gatekeeper", Roles: chatguard.Roles{chatguard.RoleModerator}}, 5)
	if c := d.card("86"); !c.Verdict.Exempt || !c.Verdict.Allowed || len(c.Limits) != 2 {
		t.Errorf("a moderator: %+v", c)
	}
	if c := d.card("nobody"); c.Login != "" || !c.LastSeen.IsZero() || !c.Verdict.Allowed || c.Limits[0].Remaining != 3 || c.Timezone != "UTC" {
		t.Errorf("a stranger: %+v", c)
	}
	d.wantProblem("a long ID", "GET", channelPath+"/users/"+long, nil, owned, 422, "1 to 256 bytes")
	d.wantProblem("another channel", "GET", "/api/v1/channels/8/users/86", nil, owned, 404, "no channel")
}

func TestUserCard_DayEnd(t *testing.T) {
	evening := time.Date(2026, 1, 5, 22, 30, 0, 0, time.UTC)
	reset := evening.Add(5 * time.Hour)
	daily, crowd, weekly := chatguard.DailyWindowLimit("x", 3), chatguard.DailyWindowLimit("x", 3), chatguard.DailyWindowLimit("x", 3)
	crowd.Per, weekly.Period = chatguard.PerChannel, chatguard.PeriodWeek
	ofText := chatguard.DailyWindowLimit("x", 3)
	ofText.Per = chatguard.PerUserText
	standing := []limitinfo.Status{{Name: "x", Algorithm: chatguard.DailyWindow, ResetAt: reset}}
	for name, test := range map[string]struct {
		limits []chatguard.Limit
		zone   string
		want   time.Time
	}{
		"a limit's":             {[]chatguard.Limit{daily}, "UTC", reset},
		"a text's":              {[]chatguard.Limit{ofText}, "UTC", evening.Add(90 * time.Minute)},
		"everyone's is nobody":  {[]chatguard.Limit{crowd}, "UTC", evening.Add(90 * time.Minute)},
		"a week's end isn't it": {[]chatguard.Limit{weekly}, "UTC", evening.Add(90 * time.Minute)},
		// 04:15 there
		"the zone's": {nil, "Asia/Kathmandu", evening.Add(19*time.Hour + 45*time.Minute)},
	} {
		if got := dayEnd(chatguard.Policy{Limits: test.limits}, standing, test.zone, evening); !got.Equal(test.want) {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

func TestUserCard_RoleNumbers(t *testing.T) {
	limit := chatguard.Limit{
		Name: "burst", Algorithm: chatguard.TokenBucket, Burst: 3, Refill: time.Second,
		Roles: map[chatguard.Role]chatguard.Override{roles.VIP: {Burst: 9}, roles.Subscriber: {Burst: 5, Refill: time.Minute}, roles.FirstTimer: {Burst: 1}},
	}
	for role, want := range map[chatguard.Role]chatguard.Override{
		roles.Everyone:   {Burst: 3, Refill: time.Second},
		roles.FirstTimer: {Burst: 1, Refill: time.Second},
		roles.VIP:        {Burst: 9, Refill: time.Second},
	} {
		states := []limitinfo.Status{{Name: "burst", Role: role}}
		if got := roleNumbers([]chatguard.Limit{limit}, states)["burst"]; got != want {
			t.Errorf("%s: %+v, want %+v", role, got, want)
		}
	}
}

// A card says when a message that was throttled for its text may be written again, also if its
// author has written another one since.
func TestUserCard_SameAgain(t *testing.T) {
	copies := chatguard.SlidingLogLimit("copies", 1, time.Minute)
	copies.Per = chatguard.PerUserText
	d := dash(t, addLimits(t, copies))
	d.stopClock()
	begun := d.now()
	want := func(when string, until time.Time) {
		t.Helper()
		if same := d.card(berta.ID).SameAgain; (same != nil) != !until.IsZero() || same != nil && (same.Limit != "copies" || !same.MaySpeakAt.Equal(until)) {
			t.Errorf("%s: %+v, want %s", when, same, until)
		}
	}
	d.write(berta, "the same text again")
	want("before a throttled message", time.Time{})
	d.advance(10 * time.Second)
	d.write(berta, "The SAME text again")
	want("throttled", begun.Add(time.Minute))
	d.write(berta, "another text, which passes")
	want("after another message", begun.Add(time.Minute))
	decode[amended](t, d.do("POST", channelPath+"/users/"+berta.ID+"/reset", nil, asOwner))
	want("reset", begun.Add(time.Minute))
	d.write(chatguard.User{ID: "60", Login: "other"}, "the same text again")
	if same := d.card("60").SameAgain; same != nil {
		t.Errorf("of another person: %+v", same)
	}
	d.advance(50 * time.Second)
	want("after the wait", time.Time{})
}

// A limit on repeated text is what each text has, so a card doesn't say what a user has left of it.
func TestUserCard_SameText(t *testing.T) {
	copies := chatguard.TokenBucketLimit("copies", 2, time.Minute)
	copies.Per, copies.Roles = chatguard.PerText, map[chatguard.Role]chatguard.Override{roles.VIP: {Burst: 9}, roles.Everyone: {Refill: time.Hour}}
	d := dash(t, addLimits(t, copies, chatguard.Limit{Name: "watched", Algorithm: chatguard.FixedWindow, Per: chatguard.PerUserText, Messages: 1, Every: time.Hour, Mode: chatguard.ModeObserve}))
	d.say(spammer, 1)
	c := d.card(spammer.ID)
	if len(c.Limits) != 2 || len(c.SameText) != 1 || c.SameText[0].Name != "copies" || c.SameText[0].Burst != 2 || c.SameText[0].Refill != time.Hour || c.SameText[0].Roles != nil {
		t.Errorf("%+v", c.SameText)
	}
	d.say(chatguard.User{ID: "60", Login: "vip", Roles: chatguard.Roles{roles.VIP}}, 1)
	d.flush()
	if c := d.card("60"); len(c.SameText) != 1 || c.SameText[0].Burst != 9 || c.SameText[0].Refill != time.Minute {
		t.Errorf("with a role's numbers: %+v", c.SameText)
	}
	d.wantProblem("a week of a text", "GET", channelPath+"/users/"+spammer.ID+"/week?limit=copies", nil, owned, 422, `The limit \"copies\" counts each text, so nobody has a week in it.`)
	d.wantProblem("the same, shared", "GET", channelPath+"/week?limit=copies", nil, owned, 422, "counts each text")
	d.wantProblem("no shared limit", "GET", channelPath+"/week", nil, owned, 422, "There is no limit that everyone shares")
}

func TestUserCard_DayZone(t *testing.T) {
	berlin := func(daily chatguard.Limit) chatguard.Policy {
		return chatguard.Policy{Timezone: "Europe/Berlin", Limits: []chatguard.Limit{daily}}
	}
	daily := func(per chatguard.Scope, zone string) chatguard.Limit {
		return chatguard.Limit{Algorithm: chatguard.DailyWindow, Per: per, Timezone: zone}
	}
	for name, test := range map[string]struct {
		p    chatguard.Policy
		own  string
		want string
	}{
		"nothing is said": {chatguard.Policy{}, "", "UTC"},
		"the policy's":    {berlin(daily(chatguard.PerUser, "")), "", "Europe/Berlin"},
		"the limit's":     {berlin(daily(chatguard.PerUser, "Asia/Tokyo")), "", "Asia/Tokyo"},
		"everyone's":      {berlin(daily(chatguard.PerChannel, "Asia/Tokyo")), "", "Europe/Berlin"},
		"the user's":      {berlin(daily(chatguard.PerUser, "Asia/Tokyo")), "America/Lima", "America/Lima"},
	} {
		if got := dayZone(test.p, chatguard.UserOverride{Timezone: test.own}); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

package chatguard_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

// eveningInTokyo is 21:00 in Tokyo, 3 h before midnight there.
var eveningInTokyo = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

// sendAll sends messages of user 7, who is in a zone, until one is throttled. It returns how many
// pass, and when the next one will.
func sendAll(t *testing.T, g *chatguard.Guard, room, zone string, at time.Time) (passed int, next time.Time) {
	t.Helper()
	for {
		v, err := g.Check(t.Context(), chatguard.Message{ChannelID: room, User: chatguard.User{ID: "7", Timezone: zone}, SentAt: at})
		if err != nil {
			t.Fatal(err)
		}
		if !v.Allowed {
			return passed, at.Add(v.RetryAfter)
		}
		passed++
	}
}

// A new user in Tokyo has the whole allowance until midnight there, in each of a hundred rooms, and
// again from midnight. In all rooms together, the same holds for a limit that counts there.
func TestTimezone_InAllRooms(t *testing.T) {
	everywhere := chatguard.DailyWindowLimit("everywhere", 200)
	everywhere.Per = chatguard.PerUserEverywhere
	g := newGuard(chatguard.DailyWindowLimit("daily", 2), everywhere)
	midnight := eveningInTokyo.Add(3 * time.Hour)
	for _, at := range []time.Time{eveningInTokyo, midnight, midnight.Add(24 * time.Hour)} {
		end := midnight
		if !at.Equal(eveningInTokyo) {
			end = at.Add(24 * time.Hour)
		}
		for i := range 100 {
			if passed, next := sendAll(t, g, fmt.Sprint("room", i), "Asia/Tokyo", at); passed != 2 || !next.Equal(end) {
				t.Fatalf("at %v, %d pass in room %d until %v", at, passed, i, next)
			}
		}
		if passed, next := sendAll(t, g, "another", "Asia/Tokyo", at); passed != 0 || !next.Equal(end) {
			t.Fatalf("at %v, %d pass in another room until %v", at, passed, next)
		}
	}
}

// An override beside the account's zone keeps its numbers, and its zone takes precedence.
func TestTimezone_BesideOverride(t *testing.T) {
	for zone, hours := range map[string]time.Duration{"": 3, "America/Lima": 17} {
		g := newGuard(chatguard.DailyWindowLimit("daily", 2))
		key := chatguard.Key{ChannelID: "room", UserID: "7"}
		override := chatguard.UserOverride{Timezone: zone, Limits: map[string]chatguard.Override{"daily": {Messages: 5}}}
		if err := g.SetUserOverride(t.Context(), key, override); err != nil {
			t.Fatal(err)
		}
		if passed, next := sendAll(t, g, "room", "Asia/Tokyo", eveningInTokyo); passed != 5 || !next.Equal(eveningInTokyo.Add(hours*time.Hour)) {
			t.Errorf("%q: %d pass until %v", zone, passed, next)
		}
	}
}

// Whatever a stranger sends as their zone, the message is judged, by the limits' zone if it isn't
// known. Validate says that it isn't, and names the form, also before there is a channel or an ID.
func TestTimezone_Unknown(t *testing.T) {
	midnight := eveningInTokyo.Add(12 * time.Hour)
	for _, zone := range []string{"Europe/Berln", "Local", "../x", "/etc/localtime", "europe/berlin", "\x00", "\xff", strings.Repeat("Europe/Berlin", 800)} {
		g := newGuard(chatguard.DailyWindowLimit("daily", 2))
		if passed, next := sendAll(t, g, "room", zone, eveningInTokyo); passed != 2 || !next.Equal(midnight) {
			t.Errorf("%.40q: %d pass until %v", zone, passed, next)
		}
		for _, m := range []chatguard.Message{
			{ChannelID: "room", User: chatguard.User{ID: "7", Timezone: zone}},
			{User: chatguard.User{Timezone: zone}},
			{User: chatguard.User{Timezone: zone}, Cost: -1, SentAt: time.Unix(-1, 0)},
		} {
			err := m.Validate()
			if !errors.Is(err, chatguard.ErrTimezone) || !strings.Contains(err.Error(), "Europe/Berlin)") || len(err.Error()) > 500 {
				t.Errorf("%.40q: %v", zone, err)
			}
		}
	}
	for _, zone := range []string{"", "UTC", "Asia/Calcutta", "America/Argentina/Buenos_Aires"} {
		if err := (chatguard.Message{ChannelID: "room", User: chatguard.User{ID: "7", Timezone: zone}}).Validate(); err != nil {
			t.Errorf("%q: %v", zone, err)
		}
	}
}

// Batches, parts of a cost, and questions without an effect use the zone, too.
func TestTimezone_AllMethods(t *testing.T) {
	midnight := eveningInTokyo.Add(3 * time.Hour)
	m := chatguard.Message{ChannelID: "room", User: chatguard.User{ID: "7", Timezone: "Asia/Tokyo"}, SentAt: eveningInTokyo, Cost: 3}
	check := func(name string, v chatguard.Verdict, err error) {
		t.Helper()
		if err != nil || !v.ResetAt.Equal(midnight) {
			t.Errorf("%s: until %v, %v", name, v.ResetAt, err)
		}
	}
	guard := func() *chatguard.Guard { return newGuard(chatguard.DailyWindowLimit("daily", 2)) }
	v, err := guard().Peek(t.Context(), m)
	check("Peek", v, err)
	_, v, err = guard().CheckUpTo(t.Context(), m)
	check("CheckUpTo", v, err)
	verdicts := make([]chatguard.Verdict, 1)
	err = guard().CheckAll(t.Context(), []chatguard.Message{m}, verdicts)
	check("CheckAll", verdicts[0], err)
}

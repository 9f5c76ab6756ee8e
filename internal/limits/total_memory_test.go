//go:build !race

package limits_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

// fillRoom makes that many users spend something in a room.
func fillRoom(t *testing.T, g *chatguard.Guard, room string, users int, at float64) {
	t.Helper()
	for i := range users {
		sendAs(t, g, room, strconv.Itoa(1_000_000+i), at)
	}
}

// All rooms together stay below a maximum, and the room with most users gives them up.
func TestMaxTotalMemory(t *testing.T) {
	const most = 1 << 20 // about 13,000 users
	g := newEnforcingGuard(t, nil, &chatguard.Options{MaxTotalMemory: most})
	for i := range 3 { // a throttled user
		sendAs(t, g, "small", "7", float64(i)/10)
	}
	for i := range 50 {
		fillRoom(t, g, fmt.Sprint("small", i), 20, 1)
	}
	fillRoom(t, g, "large", 30_000, 1)
	if m := g.Memory(); m.Bytes > most+most/8 || m.Bytes < most/2 || m.Evicted < 15_000 || m.Held != 0 {
		t.Errorf("with a large room: %+v", m)
	}
	fillRoom(t, g, "larger", 30_000, 1.5)
	m := g.Memory()
	if m.Bytes > most+most/8 || m.Bytes < most/2 {
		t.Errorf("with another large room: %+v", m)
	}
	if v := sendAs(t, g, "small", "7", 2); v.Allowed {
		t.Error("a throttled user of a small room was evicted for users of large ones")
	}
	before := g.Memory().Users
	g.ForgetChannel("large")
	g.ForgetChannel("larger")
	if m := g.Memory(); m.Users != 1001 || m.Bytes < 1000*77 || m.Bytes > 400_000 {
		t.Errorf("after the large rooms of %d users: %+v", before, m)
	}
}

// fillTexts makes that many different messages be sent in a room, by one user after another of a
// hundred.
func fillTexts(t *testing.T, g *chatguard.Guard, room string, texts int) {
	t.Helper()
	for i := range texts {
		m := chatguard.Message{ChannelID: room, User: chatguard.User{ID: strconv.Itoa(2_000_000 + i%100)}, Text: fmt.Sprintf("this is the text number %d of all", i), SentAt: late.Add(time.Duration(i) * time.Microsecond)}
		if _, err := g.Check(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
}

// late is when texts are sent: after other messages.
var late = time.Date(2026, 1, 5, 12, 0, 2, 0, time.UTC)

// Texts that somebody makes up don't replace the users of rooms, however many they are. The last
// ones are remembered.
func TestMaxTotalMemory_Texts(t *testing.T) {
	const most = 1 << 20
	g := newEnforcingGuard(t, func(p *chatguard.Policy) {
		p.Limits = []chatguard.Limit{chatguard.TokenBucketLimit("burst", 1000, time.Hour), chatguard.UserWindowLimit("copies", 1, time.Hour)}
		p.Limits[1].Per = chatguard.PerText
	}, &chatguard.Options{MaxTotalMemory: most})
	fillRoom(t, g, "large", 9_000, 1) // two thirds of the memory
	before := g.Memory()
	fillTexts(t, g, "texts", 60_000)
	m := g.Memory()
	if lost := m.Evicted - before.Evicted; m.Bytes > most+most/8 || lost > 0 || m.TextsEvicted < 40_000 || m.Texts < 500 {
		t.Errorf("with many texts: %+v, before them %+v", m, before)
	}
	for i, allowed := range map[int]bool{0: true, 59_999: false} {
		v, err := g.Check(t.Context(), chatguard.Message{ChannelID: "texts", User: chatguard.User{ID: "9"}, Text: fmt.Sprintf("this is the text number %d of all", i), SentAt: late.Add(time.Second)})
		if err != nil || v.Allowed != allowed {
			t.Errorf("text %d again: %+v, %v", i, v, err)
		}
	}
	for i := range 30 {
		fillRoom(t, g, fmt.Sprint("more", i), 600, 1)
	}
	if m := g.Memory(); m.Bytes > most+most/8 || m.Users < 9_000 || m.Texts > 2_000 {
		t.Errorf("after more users: %+v", m)
	}
}

// Wider rows evict users at once, in other rooms, too.
func TestMaxTotalMemory_WiderRows(t *testing.T) {
	const most = 1 << 20
	g := newEnforcingGuard(t, nil, &chatguard.Options{MaxTotalMemory: most})
	for room := range 10 {
		fillRoom(t, g, strconv.Itoa(room), 1200, 1)
	}
	before := g.Memory()
	p := g.Policy()
	p.Limits = append(p.Limits, chatguard.Limit{Name: "log", Algorithm: chatguard.SlidingLog, Messages: 50, Every: 60e9})
	if err := g.SetPolicy(p); err != nil {
		t.Fatal(err)
	}
	if m := g.Memory(); m.Bytes > most+most/8 || m.Users > before.Users/3 || m.Users < before.Users/20 {
		t.Errorf("before %+v, after %+v", before, m)
	}
}

// What a channel's users have used together isn't evicted, however little memory there is.
func TestMaxTotalMemory_SharedLimit(t *testing.T) {
	g := newEnforcingGuard(t, func(p *chatguard.Policy) {
		p.Limits = []chatguard.Limit{{Name: "total", Algorithm: chatguard.FixedWindow, Messages: 5, Every: 60e9, Per: chatguard.PerChannel}, chatguard.TokenBucketLimit("burst", 3, 4e9)}
	}, &chatguard.Options{MaxTotalMemory: 1})
	allowed := 0
	for i := range 100 {
		if sendAs(t, g, "room", strconv.Itoa(i), 1).Allowed {
			allowed++
		}
	}
	if allowed != 5 {
		t.Errorf("%d messages are allowed, want 5", allowed)
	}
}

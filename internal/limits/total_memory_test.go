//go:build !race

package limits_test

import (
	"fmt"
	"strconv"
	"testing"

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

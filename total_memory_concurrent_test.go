package chatguard

import (
	"strconv"
	"sync"
	"testing"
)

// sendAs judges a message of a user in a room, sent after so many seconds.
func sendAs(t *testing.T, g *Guard, room, user string, at float64) Verdict {
	t.Helper()
	m := messageFrom(user, at)
	m.ChannelID = room
	return mustCheck(t, g, m)
}

// Rooms fill at the same time, and users also have rows of limits everywhere. When a policy removes
// these limits, their rows take no memory any more.
func TestMaxTotalMemory_Concurrent(t *testing.T) {
	const most = 200_000
	g := newEnforcingGuard(t, func(p *Policy) {
		p.Limits = append(p.Limits, Limit{Name: "everywhere", Algorithm: FixedWindow, Messages: 5, Every: 60e9, Per: PerUserEverywhere})
	}, &Options{MaxTotalMemory: most})
	var rooms sync.WaitGroup
	for room := range 8 {
		rooms.Go(func() {
			name := strconv.Itoa(room)
			for i := range 500 * (room + 1) {
				sendAs(t, g, name, strconv.Itoa(10_000*room+i), 1)
			}
			if room%4 == 3 {
				g.ForgetChannel(name)
			}
		})
	}
	rooms.Wait()
	m := g.Memory()
	if m.Bytes > most+most/4 || m.Bytes < most/4 {
		t.Errorf("%+v", m)
	}
	p := g.Policy()
	p.Limits = p.Limits[:len(p.Limits)-1]
	must(t, g.SetPolicy(p))
	if left := g.Memory(); left.Bytes >= m.Bytes {
		t.Errorf("without limits everywhere: %+v, before %+v", left, m)
	}
}

package limits_test

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

// sendAs judges a message of a user in a room, sent after so many seconds.
func sendAs(t *testing.T, g *chatguard.Guard, room, user string, at float64) chatguard.Verdict {
	t.Helper()
	m := chatguard.Message{ChannelID: room, User: chatguard.User{ID: user}, SentAt: time.Date(2026, 1, 5, 12, 0, 0, int(at*1e9), time.UTC)}
	v, err := g.Check(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// newEnforcingGuard returns a Guard with the default policy as changed.
func newEnforcingGuard(t *testing.T, change func(*chatguard.Policy), opts *chatguard.Options) *chatguard.Guard {
	t.Helper()
	policy := chatguard.DefaultPolicy()
	if change != nil {
		change(&policy)
	}
	g, err := chatguard.New(policy, opts)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Rooms fill at the same time, and users also have rows of limits everywhere. When a policy removes
// these limits, their rows take no memory any more.
func TestMaxTotalMemory_Concurrent(t *testing.T) {
	const most = 200_000
	g := newEnforcingGuard(t, func(p *chatguard.Policy) {
		p.Limits = append(p.Limits, chatguard.Limit{Name: "everywhere", Algorithm: chatguard.FixedWindow, Messages: 5, Every: 60e9, Per: chatguard.PerUserEverywhere})
	}, &chatguard.Options{MaxTotalMemory: most})
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
	if err := g.SetPolicy(p); err != nil {
		t.Fatal(err)
	}
	if left := g.Memory(); left.Bytes >= m.Bytes {
		t.Errorf("without limits everywhere: %+v, before %+v", left, m)
	}
}

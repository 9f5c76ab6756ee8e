package chatguard_test

import (
	"context"
	"fmt"
	"log"
	"sync/atomic"

	"github.com/chatguard/chatguard"
)

// figures counts verdicts for a metrics system. Observers run in the goroutine that judges, so they
// only count.
type figures struct{ allowed, throttled, observed, exempt, degraded, mirrored atomic.Int64 }

func (f *figures) observe(m chatguard.Message, v chatguard.Verdict) {
	switch {
	case v.Exempt:
		f.exempt.Add(1)
	case v.Observed:
		f.observed.Add(1)
	case v.Throttled():
		f.throttled.Add(1)
	default:
		f.allowed.Add(1)
	}
	if v.Degraded {
		f.degraded.Add(1) // the store is failing
	}
	if m.Mirrored() {
		f.mirrored.Add(1) // written in m.SourceChannelID
	}
}

func ExampleGuard_AddObserver() {
	var all, lobby figures
	guard, err := chatguard.New(chatguard.DefaultPolicy(), &chatguard.Options{Observer: all.observe})
	if err != nil {
		log.Fatal(err)
	}
	remove := guard.AddObserver(func(m chatguard.Message, v chatguard.Verdict) {
		if m.ChannelID == "lobby" {
			lobby.observe(m, v)
		}
	})
	for i, channel := range []string{"arena", "lobby", "lobby", "lobby", "lobby", "lobby"} {
		if i == 5 {
			remove()
		}
		message := chatguard.Message{ChannelID: channel, SourceChannelID: "arena", User: chatguard.User{ID: "anna"}, SentAt: noon}
		if _, err := guard.Check(context.Background(), message); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println("all:", all.allowed.Load(), "allowed,", all.throttled.Load(), "throttled,", all.mirrored.Load(), "mirrored")
	fmt.Println("lobby:", lobby.allowed.Load(), "allowed,", lobby.throttled.Load(), "throttled")
	// Output:
	// all: 4 allowed, 2 throttled, 5 mirrored
	// lobby: 3 allowed, 1 throttled
}

package scenes

import (
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/chatguardtest"
)

// A bot that doesn't say when messages were sent hits innocent users after a reconnect.
func TestBacklog_WithoutTimes(t *testing.T) {
	now := time.Date(2026, 11, 27, 20, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		withTime  bool
		throttled int
	}{{true, 0}, {false, 5}} {
		guard, err := chatguard.New(chatguard.DefaultPolicy(), &chatguard.Options{Now: chatguardtest.NewClock(now).Now})
		if err != nil {
			t.Fatal(err)
		}
		throttled := 0
		for i := range 8 {
			m := chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "bob"}}
			if c.withTime {
				m.SentAt = now.Add(time.Duration(i-8) * 5 * time.Second)
			}
			verdict, err := guard.Check(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			if !verdict.Allowed {
				throttled++
			}
		}
		if throttled != c.throttled {
			t.Errorf("with times %t: %d of 8 are throttled, want %d", c.withTime, throttled, c.throttled)
		}
	}
}

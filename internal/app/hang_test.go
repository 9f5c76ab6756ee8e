package app_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/config"
)

// TestHang checks that timeouts that Twitch never answers delay deletions by 5 s at most, in the
// channels with the timeouts and in another one, and only until the first timeouts are given up.
func TestHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := oneMessageConfig(config.TransportIRC)
		c.Twitch.Channels, c.Twitch.SlowMode = []string{"gardenhour", "den", "quiet"}, 0
		c.Policy.Penalties.Ladder = []chatguard.Penalty{{Action: chatguard.ActionDelete}, {Action: chatguard.ActionTimeout, Duration: time.Minute}}
		c.Policy.Penalties.StrikeEvery = 0
		s := newSimulation(t, c, faketwitch.Options{Channels: c.Twitch.Channels})
		s.start()
		s.server.SetHelixFaults(func(r faketwitch.Request) (faketwitch.Fault, bool) {
			return faketwitch.Fault{Status: faketwitch.AsAsked, Delay: time.Hour}, r.Method == http.MethodPost && r.Path == "/helix/moderation/bans"
		})
		began, due := time.Now(), map[string]time.Time{} // when a message should be deleted, by its ID
		say := func(channel, login string, messages int) {
			for i := range messages {
				id, err := s.server.Say(faketwitch.Line{Channel: channel, Login: login, Text: "hello"})
				must(t, err)
				if i == 1 {
					due[id] = time.Now()
				}
			}
		}
		raiders := 40 // more than the places of a channel
		for second := range 20 {
			for i := range raiders {
				say("gardenhour", fmt.Sprintf("raider%d_%d", second, i), 3)
				say("den", fmt.Sprintf("stranger%d_%d", second, i), 3)
			}
			say("quiet", fmt.Sprintf("regular%d", second), 2)
			s.advance(time.Second)
			raiders = 5
		}
		s.advance(20 * time.Second)
		for _, d := range s.server.Deletes() {
			at, ok := due[d.Message.ID]
			if delay := d.At.Sub(at); ok && (delay > 5*time.Second || delay > 0 && at.Sub(began) >= 6*time.Second) {
				t.Errorf("the message of %s, %s after the first, was deleted after %s", d.Message.Login, at.Sub(began), delay)
			}
			delete(due, d.Message.ID)
		}
		if len(due) > 0 {
			t.Errorf("%d messages weren't deleted", len(due))
		}
	})
}

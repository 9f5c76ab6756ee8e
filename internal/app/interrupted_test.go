package app_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/journal"
)

// Twitch carries out a ban at the moment when chatguard is killed. The next process has the ban's
// entry, knows that the ban may be in force, tells webhooks so, and lifts it by a pardon.
func TestBan_Interrupted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := withWebhook(oneMessageConfig(config.TransportIRC))
		c.Policy.Penalties.Ladder = []chatguard.Penalty{{Action: chatguard.ActionBan}}
		s := newSimulation(t, c, faketwitch.Options{Channels: []string{"gardenhour"}})
		s.start()
		killed := filepath.Join(t.TempDir(), "killed.db")
		s.server.SetHelixFaults(func(r faketwitch.Request) (faketwitch.Fault, bool) {
			isBan := r.Method == http.MethodPost && r.Path == "/helix/moderation/bans"
			if isBan {
				copyDatabase(t, s.config.Database, killed)
			}
			return faketwitch.Fault{Status: faketwitch.AsAsked, After: true, Delay: time.Hour}, isBan
		})
		for range 2 {
			_, err := s.server.Say(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "hello"})
			must(t, err)
		}
		s.advance(5 * time.Second)
		if s.maySay("anna") {
			t.Fatal("Twitch has not banned anna")
		}
		s.stop()
		s.server.SetHelixFaults(nil)
		s.config.Database = killed
		s.start()
		s.advance(time.Minute)
		entries, err := s.bot.Host.Store.Entries(t.Context(), journal.EntryFilter{N: 10})
		must(t, err)
		if len(entries) != 1 || entries[0].Outcome.Result != journal.Unknown || entries[0].Outcome.Action != chatguard.ActionBan ||
			entries[0].Outcome.Reason != journal.Interrupted {
			t.Fatalf("the journal has %+v", entries)
		}
		s.wantEvents("ban: #gardenhour: Perhaps banned. anna, by chatguard, after strikes in the limit one; whether Twitch carried it out is unknown")
		s.stop()
		s.start()
		s.advance(time.Minute)
		s.wantEvents()
		done, _, err := s.bot.Host.Controls.Pardons.PardonEntry(t.Context(), entries[0].ID, "token:mo")
		if err != nil || done.Silence != journal.SilenceLifted || !s.maySay("anna") {
			t.Errorf("pardoned: %+v, %v", done, err)
		}
	})
}

// Twitch carries out a timeout for several messages, each of which would have been deleted, and
// chatguard is killed. The next process knows only of the deletes, and lifts the timeout by a
// pardon. A second pardon finds nothing to lift.
func TestMerge_Interrupted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := oneMessageConfig(config.TransportIRC)
		c.Policy.Penalties.Ladder = append(c.Policy.Penalties.Ladder, chatguard.Penalty{Action: chatguard.ActionTimeout, Duration: 10 * time.Minute})
		s := newSimulation(t, c, faketwitch.Options{Channels: []string{"gardenhour"}, HelixBudget: 30})
		s.config.FlushInterval = time.Second
		s.start()
		s.server.SetHelixFaults(func(r faketwitch.Request) (faketwitch.Fault, bool) {
			return faketwitch.Fault{Status: faketwitch.AsAsked, After: true, Delay: time.Hour}, r.Method == http.MethodPost && r.Path == "/helix/moderation/bans"
		})
		logins := map[string]string{} // by ID
		for i := range 40 {
			login := fmt.Sprintf("stranger%d", i)
			for range 3 {
				_, err := s.server.Say(faketwitch.Line{Channel: "gardenhour", Login: login, Text: "hello"})
				must(t, err)
			}
			logins[s.server.UserID(login)] = login
		}
		s.advance(3 * time.Second)
		merged := logins[s.server.Bans()[0].UserID]
		killed := filepath.Join(t.TempDir(), "killed.db")
		copyDatabase(t, s.config.Database, killed)
		s.stop()
		s.server.SetHelixFaults(nil)
		s.config.Database = killed
		s.start()
		s.advance(time.Minute)
		to := s.targetOf(merged)
		entries, err := s.bot.Host.Store.Entries(t.Context(), journal.EntryFilter{UserID: to.UserID, N: 10})
		must(t, err)
		if len(entries) != 2 || entries[0].Outcome.Action != chatguard.ActionDelete || entries[0].Outcome.Result != journal.Unknown {
			t.Fatalf("the journal has %+v", entries)
		}
		for _, want := range []journal.SilenceResult{journal.SilenceLifted, journal.NotSilenced} {
			if done, _, err := s.bot.Host.Controls.Pardons.PardonUser(t.Context(), to); err != nil || done.Silence != want {
				t.Errorf("pardoned: %+v, %v; want %s", done, err, want)
			}
		}
		if !s.maySay(merged) {
			t.Error("the timeout is still in force")
		}
	})
}

// copyDatabase copies a database in use, as a process that is killed leaves it.
func copyDatabase(t *testing.T, from, to string) {
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(from + suffix)
		if err == nil {
			err = os.WriteFile(to+suffix, data, 0o600)
		}
		if err != nil {
			t.Error(err)
		}
	}
}

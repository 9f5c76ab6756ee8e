//go:build !race

package demo

import (
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/textkey"
)

// pastScene is the demo's past, with a server that knows its users.
type pastScene struct {
	*testing.T
	*persist.Store
	server *faketwitch.Server
	start  time.Time
	key    textkey.Key
}

// makeScene makes the demo's past and opens its database.
func makeScene(t *testing.T, seed uint64, start time.Time) *pastScene {
	t.Helper()
	server, err := faketwitch.Start(faketwitch.Options{Channels: Channels, InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	c := config.Default()
	c.Database = filepath.Join(t.TempDir(), "chatguard.db")
	SetChannels(&c)
	if _, err := MakePast(t.Context(), server, c, seed, start); err != nil {
		t.Fatal(err)
	}
	key, err := textkey.Open(c.TextKeyFile())
	if err != nil {
		t.Fatal(err)
	}
	store, err := persist.Open(t.Context(), c.Database, &persist.Options{Logger: slog.New(slog.DiscardHandler), TextRetention: c.TextRetention})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return &pastScene{t, store, server, start, key}
}

// entries returns a channel's journal, newest first.
func (s *pastScene) entries(channel string) []journal.Entry {
	s.Helper()
	entries, err := s.Entries(s.Context(), journal.EntryFilter{ChannelID: s.server.UserID(channel), N: 1 << 20})
	if err != nil {
		s.Fatal(err)
	}
	return entries
}

// TestMakePast checks that the demo begins with something of everything that the dashboard can
// show, and that a seed always gives the same past.
func TestMakePast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(20*time.Hour + 7*time.Minute) // to an evening
		start := time.Now()
		s := makeScene(t, 1, start)
		s.checkLadder()
		s.checkObserving()
		s.checkRates()
		s.checkChanges()
		s.checkTimeouts()
		s.checkTexts()
		if testing.Short() {
			return
		}
		again, other := makeScene(t, 1, start), makeScene(t, 2, start)
		for _, channel := range Channels {
			entries := s.entries(channel)
			if !slices.Equal(entries, again.entries(channel)) {
				t.Errorf("#%s: the same seed gives another journal", channel)
			}
			if slices.Equal(entries, other.entries(channel)) {
				t.Errorf("#%s: another seed gives the same journal", channel)
			}
		}
	})
}

// checkLadder checks that somebody has been on each rung in the last ten minutes, and that one
// penalty has failed.
func (s *pastScene) checkLadder() {
	s.Helper()
	recent, scripts, longest := map[string]int{}, map[bool]int{}, time.Duration(0)
	for _, e := range s.entries(First) {
		if e.Text == "" || e.Login == "" {
			s.Fatalf("an entry without text or login: %+v", e)
		}
		scripts[e.DisplayName[0] < 0x80]++
		longest = max(longest, s.start.Sub(e.At))
		if s.start.Sub(e.At) < 10*time.Minute {
			recent[fmt.Sprint(e.Penalty, " ", e.Outcome.Result)]++
			recent[string(e.Outcome.Result)]++
		}
	}
	for _, want := range []string{"delete done", "warn done", "timeout 30s done", "timeout 10m done", "failed"} {
		if recent[want] == 0 {
			s.Errorf("no %q in the last ten minutes, but %v", want, recent)
		}
	}
	if scripts[true] == 0 || scripts[false] == 0 || longest < lastStreamOver {
		s.Errorf("names by script %v; oldest entry %s ago", scripts, longest)
	}
}

func (s *pastScene) checkObserving() {
	s.Helper()
	entries := s.entries(Second)
	for _, e := range entries {
		if e.Outcome.Result != journal.Observed {
			s.Fatalf("an outcome in the channel that observes: %+v", e)
		}
	}
	if len(entries) < 50 {
		s.Errorf("%d entries in the channel that observes", len(entries))
	}
}

// checkRates checks that the charts are full: messages in every minute of the stream, and in most
// hours before it.
func (s *pastScene) checkRates() {
	s.Helper()
	minutes, throttled := map[string]map[time.Time]uint32{}, uint32(0)
	hours := map[time.Time]bool{}
	err := s.Minutes(s.Context(), s.start.Add(-pastBegan), s.start, func(m journal.Minute) error {
		if minutes[m.ChannelID] == nil {
			minutes[m.ChannelID] = map[time.Time]uint32{}
		}
		minutes[m.ChannelID][m.At.UTC()] = m.Messages
		hours[m.At.UTC().Truncate(time.Hour)] = true
		throttled += m.Throttled
		return nil
	})
	if err != nil {
		s.Fatal(err)
	}
	for _, channel := range Channels {
		for back := 2 * time.Minute; back < liveSince; back += time.Minute {
			if at := s.start.Add(-back).UTC().Truncate(time.Minute); minutes[s.server.UserID(channel)][at] == 0 {
				s.Errorf("#%s: no message %s before the start", channel, back)
			}
		}
	}
	streams, err := s.Streams(s.Context(), s.server.UserID(First), 9)
	if err != nil || len(streams) != 2 || streams[0].Ended || !streams[1].Ended {
		s.Errorf("streams %+v, %v", streams, err)
	}
	if len(hours) < 36 || throttled < 500 {
		s.Errorf("messages in %d hours, %d throttled", len(hours), throttled)
	}
}

// checkChanges checks the audit, and what the changes have left behind.
func (s *pastScene) checkChanges() {
	s.Helper()
	audits, err := s.Audits(s.Context(), journal.AuditFilter{N: 100})
	if err != nil {
		s.Fatal(err)
	}
	n := map[journal.AuditAction]int{}
	for _, a := range audits {
		n[a.Action]++
	}
	want := map[journal.AuditAction]int{
		journal.PolicyChanged: 3, journal.ChannelPaused: 1, journal.ChannelResumed: 1, journal.RaidSwitched: 2, journal.UserGranted: 1,
		journal.UserExempted: 1, journal.UserOverridden: 6, journal.UserPardoned: 1,
	}
	if !maps.Equal(n, want) {
		s.Errorf("changes %v, want %v", n, want)
	}
	revisions, _, err := s.Revisions(s.Context(), s.server.UserID(First), 0, 50)
	if err != nil || len(revisions) != 2 || revisions[0].Author == revisions[1].Author {
		s.Errorf("revisions %+v, %v", revisions, err)
	}
}

// checkTimeouts checks that the simulated Twitch knows who is still timed out.
func (s *pastScene) checkTimeouts() {
	s.Helper()
	checked := 0
	for _, e := range s.entries(First) {
		left := time.Until(e.Outcome.At.Add(e.Penalty.Duration))
		if e.Outcome.Action != chatguard.ActionTimeout || e.Outcome.Result != journal.Done || left < time.Minute {
			continue
		}
		checked++
		if _, err := s.server.Say(faketwitch.Line{Channel: First, Login: e.Login, Text: "hello"}); err == nil {
			s.Errorf("%s may write, but is timed out for %s", e.Login, left)
		}
	}
	if checked == 0 {
		s.Error("nobody is timed out")
	}
}

// checkTexts checks that previews of limits on repeated text know the texts of all messages.
func (s *pastScene) checkTexts() {
	s.Helper()
	guard, err := chatguard.New(chatguard.Policy{}, &chatguard.Options{TextKey: s.key})
	if err != nil {
		s.Fatal(err)
	}
	s.RecordTexts(guard.TextPrint)
	all, known := 0, 0
	for _, channel := range Channels {
		err := s.Timeline(s.Context(), s.server.UserID(channel), s.start.Add(-pastBegan), func(said []journal.TimelineMessage) error {
			for i := range said {
				if all++; !said[i].Print.IsZero() {
					known++
				}
			}
			return nil
		})
		if err != nil {
			s.Fatal(err)
		}
	}
	if all == 0 || known < all {
		s.Errorf("the texts of %d of %d messages are known", known, all)
	}
}

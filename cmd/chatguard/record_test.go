package main

import (
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// record is the content of an export.
type record struct {
	states    int
	journal   []journal.Entry
	revisions []journal.Revision
	audits    int
	timeline  []journal.TimelineMessage
	channels  map[string]string // logins by ID
}

func (s *scene) export() record {
	s.Helper()
	return readRecord(s, s.run("export", "-"))
}

func readRecord(t testing.TB, text string) (r record) {
	t.Helper()
	r.channels = map[string]string{}
	for line := range strings.Lines(text) {
		switch decode[struct{ Kind string }](t, line).Kind {
		case "state":
			r.states++
		case "journal":
			r.journal = append(r.journal, decode[journal.Entry](t, line))
		case "revision":
			r.revisions = append(r.revisions, decode[journal.Revision](t, line))
		case "audit":
			r.audits++
		case "timeline":
			r.timeline = append(r.timeline, decode[journal.TimelineMessage](t, line))
		case "channel":
			c := decode[struct{ ID, Login string }](t, line)
			r.channels[c.ID] = c.Login
		}
	}
	return r
}

// messageCounts returns the number of messages in the timeline by user, without exempt users.
func (r *record) messageCounts() map[string]int {
	n := map[string]int{}
	for _, m := range r.timeline {
		if !m.Roles.Has(chatguard.RoleModerator) {
			n[m.Login]++
		}
	}
	return n
}

// checkEntries checks the number of journal entries: one for each message in the timeline beyond
// its author's allowance.
func (r *record) checkEntries(t *testing.T, allowed int) {
	t.Helper()
	entries := map[string]int{}
	for _, e := range r.journal {
		entries[e.Login]++
	}
	spoken := r.messageCounts()
	for login, n := range spoken {
		if want := max(0, n-allowed); entries[login] != want {
			t.Errorf("%s spoke %d times, and was throttled %d times, want %d", login, n, entries[login], want)
		}
		delete(entries, login)
	}
	if len(entries) != 0 {
		t.Errorf("throttled without a word, or in spite of being exempt: %v", entries)
	}
}

// resultCounts returns the number of entries by outcome.
func (r *record) resultCounts() map[journal.Result]int {
	n := map[journal.Result]int{}
	for _, e := range r.journal {
		n[e.Outcome.Result]++
	}
	return n
}

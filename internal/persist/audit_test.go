package persist

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// Changes are found by what they say, the newest first, whether they are stored, on their way or waiting.
func TestAudits(t *testing.T) {
	s := open(t, databasePath(t), nil)
	g := guardOf(t, s, policy())
	var all []journal.Audit
	record := func(author string, action journal.AuditAction, channelID, userID string, detail any) {
		a := journal.Audit{At: start, Author: author, Action: action, ChannelID: channelID, UserID: userID, Detail: detail}
		must(t, s.changes.addAudit(a))
		a.ID = int64(len(all) + 1)
		all = append(all, a)
	}
	check := func(when string) {
		t.Helper()
		for _, step := range []struct {
			wanted journal.AuditFilter
			ids    []int
		}{
			{journal.AuditFilter{N: 9}, []int{5, 4, 3, 2, 1}},
			{journal.AuditFilter{N: 2}, []int{5, 4}},
			{journal.AuditFilter{N: 2, Before: 4}, []int{3, 2}},
			{journal.AuditFilter{N: 9, Before: 1}, nil},
			{journal.AuditFilter{N: 9, ChannelID: "1"}, []int{4, 3, 1}},
			{journal.AuditFilter{N: 9, UserID: "7"}, []int{5, 1}},
			{journal.AuditFilter{N: 9, User: "7"}, []int{5, 1}},
			{journal.AuditFilter{N: 9, User: "Anna_Eight", ChannelID: "1"}, []int{3}},
			{journal.AuditFilter{N: 9, User: "anna_eight", ChannelID: "2"}, nil},
			{journal.AuditFilter{N: 9, Author: "anna"}, []int{4, 3, 1}},
			{journal.AuditFilter{N: 1, Author: "anna", Before: 4}, []int{3}},
			{journal.AuditFilter{N: 9, Action: journal.UserGranted, ChannelID: "1"}, []int{3, 1}},
			{journal.AuditFilter{N: 9, Author: "nobody"}, nil},
		} {
			want := []journal.Audit{}
			for _, id := range step.ids {
				want = append(want, all[id-1])
			}
			if got, err := s.Audits(ctx, step.wanted); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %+v: %v\ngot  %+v\nwant %+v", when, step.wanted, err, got, want)
			}
		}
	}
	s.speak("1", "8", "anna_eight", start, 0)
	record("anna", journal.UserGranted, "1", "7", map[string]any{"messages": json.Number("9007199254740993")})
	record("berta", journal.ChannelPaused, "2", "", nil)
	s.mustFlush(t, g)
	record("anna", journal.UserGranted, "1", "8", "text")
	record("anna", journal.RaidSwitched, "1", "", nil)
	record("berta", journal.UserReset, "2", "7", nil)
	check("while some wait")
	waiting := s.changes.look()
	tx, err := s.db.writer.BeginTx(ctx, nil)
	must(t, err)
	must(t, writeChanges(ctx, tx, waiting))
	must(t, tx.Commit())
	check("stored, and not told yet")
	s.changes.stored(waiting)
	check("stored")
}

// Pardons are found by the entries that they are of, stored or not.
func TestPardonsAreFoundByTheirEntries(t *testing.T) {
	s := open(t, databasePath(t), nil)
	g := guardOf(t, s, policy())
	pardon := func(entry chatguard.EntryID) {
		must(t, s.changes.addAudit(journal.Audit{
			At: start, Author: "anna", Action: journal.UserPardoned, ChannelID: "1", UserID: "7", Detail: map[string]any{"entry": entry},
		}))
	}
	must(t, s.changes.addAudit(journal.Audit{At: start, Author: "anna", Action: journal.UserGranted, ChannelID: "1", Detail: map[string]any{"entry": 11}}))
	pardon(11)
	pardon(12)
	s.mustFlush(t, g)
	pardon(13)
	pardon(14)
	got, err := s.Audits(ctx, journal.AuditFilter{Pardoned: []chatguard.EntryID{10, 11, 13}, N: 9})
	if err != nil || len(got) != 2 || got[0].ID != 4 || got[1].ID != 2 {
		t.Errorf("found %+v, %v", got, err)
	}
}

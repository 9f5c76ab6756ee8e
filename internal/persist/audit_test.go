package persist

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/journal"
)

// Changes are found by their contents, newest first, whether they are stored, being written or
// pending.
func TestAudits(t *testing.T) {
	t.Parallel()
	s, g := openWithGuard(t, nil)
	var all []journal.Audit
	record := func(author string, action journal.AuditAction, channelID, userID, detail string) {
		a := journal.Audit{At: start, Author: author, Action: action, ChannelID: channelID, UserID: userID, Detail: journal.StoredDetail(detail)}
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
	s.observeMessage("1", "8", "anna_eight", start, 0)
	record("anna", journal.UserGranted, "1", "7", `{"messages":9007199254740993}`)
	record("berta", journal.ChannelPaused, "2", "", "null")
	s.mustFlush(t, g)
	record("anna", journal.UserGranted, "1", "8", `"text"`)
	record("anna", journal.RaidSwitched, "1", "", "null")
	record("berta", journal.UserReset, "2", "7", "null")
	check("while some wait")
	_, waiting := s.changes.parts()
	tx, err := s.db.Writer.BeginTx(ctx, nil)
	must(t, err)
	must(t, waiting.write(ctx, tx))
	must(t, tx.Commit())
	check("stored, and not told yet")
	waiting.done(ctx, true)
	check("stored")
}

// Pardons, and the changes that undid them, are found by their entries, whether stored or pending.
func TestAudits_PardonsByEntry(t *testing.T) {
	t.Parallel()
	s, g := openWithGuard(t, nil)
	add := func(action journal.AuditAction, user, detail string) {
		must(t, s.changes.addAudit(journal.Audit{At: start, Author: "anna", Action: action, ChannelID: "1", UserID: user, Detail: journal.StoredDetail(detail)}))
	}
	for range 2 { // stored and pending
		add(journal.UserGranted, "7", `{"entry":11}`)
		add(journal.UserPardoned, "7", `{"entry":11}`)
		add(journal.UserPardoned, "7", `{"entry":12}`)
		add(journal.UserPardoned, "8", `{"first":1,"last":99}`)
		add(journal.UserPardoned, "7", `{"first":13,"last":15}`)
		add(journal.UserUnpardoned, "7", `{"first":13,"last":15}`)
		add(journal.UserPardoned, "7", `{"first":16,"last":17}`)
		add(journal.UserPardoned, "7", `"somebody has edited this"`)
		if s.count(t, "SELECT count(*) FROM audit") == 0 {
			s.mustFlush(t, g)
		}
	}
	s.wantRows(t, "audit", 8)
	wanted := []journal.EntryKey{{ID: 10, ChannelID: "1", UserID: "7"}, {ID: 11, ChannelID: "1", UserID: "7"}, {ID: 14, ChannelID: "1", UserID: "7"}, {ID: 16, ChannelID: "2", UserID: "7"}}
	got, err := s.Audits(ctx, journal.AuditFilter{Pardoned: wanted, N: 99})
	var ids []int64
	for _, a := range got {
		ids = append(ids, a.ID)
	}
	if err != nil || !slices.Equal(ids, []int64{14, 13, 10, 6, 5, 2}) {
		t.Errorf("found %v, %v", ids, err)
	}
}

// A page of changes that an earlier version stored with long details doesn't fill the memory.
func TestAudits_LongDetail(t *testing.T) {
	t.Parallel()
	s := open(t, newDatabase(t), nil)
	for id, detail := range map[int]string{1: `["` + strings.Repeat("x", 65532) + `"]`, 2: `["` + strings.Repeat("x", 65533) + `"]`} {
		s.exec(t, "INSERT INTO audit ("+auditColumns+") VALUES (?, 1, 'anna', 'policy', 'c1', '', ?)", id, detail)
	}
	audits, err := s.Audits(ctx, journal.AuditFilter{N: 10})
	if err != nil || len(audits) != 2 || len(fmt.Sprint(audits[0].Detail)) > 10 || len(fmt.Sprint(audits[1].Detail)) < 65532 {
		t.Errorf("%.200v, %v", audits, err)
	}
}

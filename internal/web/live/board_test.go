package live

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/chatguard/chatguard/internal/journal"
)

func TestBoard_RowLeavesWhenUserMaySpeak(t *testing.T) {
	b := newBoard()
	b.put(entry(1, "a", noon, 10*time.Second), 0, 1, noon)
	b.put(entry(2, "b", noon, 20*time.Second), 0, 1, noon)
	b.put(entry(3, "a", noon.Add(time.Second), 9*time.Second), 0, 1, noon.Add(time.Second))
	if rows := b.list(channelID); len(rows) != 2 || rows[0].Count != 2 || !rows[0].Since.Equal(noon) {
		t.Errorf("rows %+v", rows)
	}
	b.expire(noon.Add(10*time.Second - 1))
	if b.len("") != 2 {
		t.Error("a row left too early")
	}
	b.expire(noon.Add(10 * time.Second))
	if rows := b.list(""); len(rows) != 1 || rows[0].UserID != "b" {
		t.Errorf("rows %+v", rows)
	}
	if c := b.takeChanges()[channelID]; len(c.users) != 1 || len(c.gone) != 1 || c.gone[0] != "a" {
		t.Errorf("changes %+v", c)
	}
	if c := b.takeChanges(); len(c) != 0 {
		t.Errorf("changes reported twice: %+v", c)
	}
}

func TestBoard_LongWaitDelaysNobodyElse(t *testing.T) {
	b := newBoard()
	b.put(entry(1, "a", noon, 10*time.Second), 0, 1, noon)
	b.put(entry(2, "b", noon, 20*time.Second), 0, 1, noon)
	b.put(entry(3, "a", noon, 30*time.Second), 0, 1, noon)
	b.expire(noon.Add(20 * time.Second))
	if rows := b.list(""); len(rows) != 1 || rows[0].UserID != "a" {
		t.Errorf("rows %+v", rows)
	}
}

func TestBoard_ReturningUserCountsFromOne(t *testing.T) {
	b := newBoard()
	b.put(entry(1, "a", noon, time.Second), 0, 1, noon)
	later := noon.Add(2 * time.Second)
	b.put(entry(2, "a", later, time.Second), 0, 1, later)
	if r := b.list("")[0]; r.Count != 1 || !r.Since.Equal(later) {
		t.Errorf("row %+v", r)
	}
}

func TestBoard_NeverAllowedLeavesAfterMinute(t *testing.T) {
	b := newBoard()
	e := entry(1, "a", noon, 0)
	e.MaySpeakAt = journal.OptionalTime{}
	b.put(e, 0, 5, noon)
	if r := b.list("")[0]; !r.Never {
		t.Errorf("row %+v", r)
	}
	b.expire(noon.Add(time.Minute))
	if b.len("") != 0 {
		t.Error("the row stayed")
	}
}

func TestBoard_LastOutcomeCounts(t *testing.T) {
	b := newBoard()
	b.put(entry(1, "a", noon, time.Minute), 0, 1, noon)
	b.put(entry(2, "a", noon, time.Minute), 0, 1, noon)
	b.report(journal.Outcome{Entry: 1, Result: journal.Failed})
	b.report(journal.Outcome{Entry: 2, Result: journal.Done})
	b.report(journal.Outcome{Entry: 9, Result: journal.Failed})
	if r := b.list("")[0]; r.Outcome.Result != journal.Done {
		t.Errorf("outcome %+v", r.Outcome)
	}
}

func TestBoard_Bounded(t *testing.T) {
	b := newBoard()
	for i := range maxRows + 5 {
		b.put(entry(int64(i+1), fmt.Sprint(i), noon, time.Hour-time.Duration(i)), 0, 1, noon)
	}
	b.put(entry(1_000_000, "longest", noon, 2*time.Hour), 0, 1, noon)
	rows := b.list("")
	if len(rows) != maxRows || len(b.entries) != maxRows {
		t.Fatalf("%d rows, %d entries", len(rows), len(b.entries))
	}
	if r := rows[len(rows)-1]; r.UserID != "longest" {
		t.Errorf("the user who waits longest was dropped; the last is %s", r.UserID)
	}
}

func TestBoard_EarlierAllowedMessageRemovesNobody(t *testing.T) {
	b := newBoard()
	b.put(entry(1, "a", noon, time.Minute), 0, 1, noon)
	b.allow(channelID, "a", noon.Add(-1))
	b.allow("another", "a", noon.Add(1))
	if b.len(channelID) != 1 {
		t.Error("the row has left")
	}
	b.allow(channelID, "a", noon.Add(1))
	if b.len(channelID) != 0 || len(b.sizes) != 0 || b.users.counter("a").Load() != 0 {
		t.Errorf("%d rows are left, sizes %v", b.len(""), b.sizes)
	}
}

func TestBoard_RetainsNoLines(t *testing.T) {
	line := strings.Repeat("x", 1000)
	e := entry(1, line[:2], noon, time.Minute)
	e.ChannelID, e.Login, e.DisplayName = line[2:4], line[4:8], line[8:16]
	b := newBoard()
	b.put(e, 0, 1, noon)
	start := uintptr(unsafe.Pointer(unsafe.StringData(line)))
	for key, r := range b.rows {
		for _, kept := range []string{key.channel, key.user, r.Channel, r.UserID, r.Login, r.DisplayName} {
			if at := uintptr(unsafe.Pointer(unsafe.StringData(kept))); at >= start && at < start+uintptr(len(line)) {
				t.Errorf("%q is a part of the line", kept)
			}
		}
	}
}

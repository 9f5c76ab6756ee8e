package live

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/roles"
)

func TestBoard_RowLeavesWhenUserMaySpeak(t *testing.T) {
	b := newBoard()
	b.put(entry(1, "a", noon, 10*time.Second), "", chatguard.Message{Cost: 1}, noon)
	b.put(entry(2, "b", noon, 20*time.Second), "", chatguard.Message{Cost: 1}, noon)
	b.put(entry(3, "a", noon.Add(time.Second), 9*time.Second), "", chatguard.Message{Cost: 1}, noon.Add(time.Second))
	if rows := b.list(channelID, isHeld); len(rows) != 2 || rows[0].Count != 2 || !rows[0].Since.Equal(noon) {
		t.Errorf("rows %+v", rows)
	}
	b.expire(noon.Add(10*time.Second - 1))
	if b.len("") != 2 {
		t.Error("a row left too early")
	}
	b.expire(noon.Add(10 * time.Second))
	if rows := b.list("", isHeld); len(rows) != 1 || rows[0].UserID != "b" {
		t.Errorf("rows %+v", rows)
	}
	if c := b.takeChanges()[channelID]; len(c.users) != 2 || len(c.gone) != 0 {
		t.Errorf("changes %+v", c)
	}
	if c := b.takeChanges(); len(c) != 0 {
		t.Errorf("changes reported twice: %+v", c)
	}
}

// TestBoard_Forget checks that a forgotten user leaves the board of every channel, throttled or
// not, and that pages are told.
func TestBoard_Forget(t *testing.T) {
	b := newBoard()
	b.put(entry(1, "a", noon, 10*time.Second), "", chatguard.Message{Cost: 1}, noon)
	b.put(entry(2, "b", noon, 20*time.Second), "", chatguard.Message{Cost: 1}, noon)
	other := entry(3, "a", noon, 30*time.Second)
	other.ChannelID = "other"
	b.put(other, "", chatguard.Message{Cost: 1}, noon)
	b.expire(noon.Add(15 * time.Second))
	b.takeChanges()
	b.forget("a")
	if rows := b.list("", func(*Throttled) bool { return true }); len(rows) != 1 || rows[0].UserID != "b" || b.len("") != 1 {
		t.Errorf("rows %+v", rows)
	}
	if c := b.takeChanges(); len(c[channelID].gone) != 1 || len(c["other"].gone) != 1 {
		t.Errorf("changes %+v", c)
	}
}

func TestBoard_RowStaysAfterWait(t *testing.T) {
	for name, end := range map[string]func(b *board){
		"over":    func(b *board) { b.expire(noon.Add(10 * time.Second)) },
		"allowed": func(b *board) { b.allow(channelID, "a", noon.Add(5*time.Second)) },
		"judged": func(b *board) {
			seen, _ := b.find(channelID, "a")
			b.judge(seen, chatguard.Verdict{Allowed: true}, noon.Add(time.Second))
		},
	} {
		b := newBoard()
		e := entry(1, "a", noon, 10*time.Second)
		e.Text, e.MessageID = strings.Repeat("é", maxRowText), "m1"
		b.put(e, "#1e90ff", chatguard.Message{Cost: 1, User: chatguard.User{Roles: chatguard.Roles{roles.VIP}}}, noon)
		if r := b.list("", isHeld); len(r) != 1 || r[0].Color != "#1e90ff" || !r[0].Roles.Has(roles.VIP) || r[0].MessageID != "m1" || len(r[0].Text) > maxRowText {
			t.Errorf("%s: rows %+v", name, r)
		}
		b.takeChanges()
		end(b)
		if n := b.len(channelID); n != 0 || b.len("") != 0 {
			t.Errorf("%s: %d users are throttled", name, n)
		}
		if c := b.takeChanges()[channelID]; len(c.users) != 1 || c.users[0].Held || len(c.gone) != 0 {
			t.Errorf("%s: changes %+v", name, c)
		}
		b.expire(noon.Add(Recent - 1))
		if rows := b.list("", isAny); len(rows) != 1 {
			t.Errorf("%s: the row left too early", name)
		}
		b.report(journal.Outcome{Entry: 1, Result: journal.Failed})
		if rows := b.list("", isAny); rows[0].Outcome.Result != journal.Failed {
			t.Errorf("%s: late outcome %+v", name, rows[0].Outcome)
		}
		b.expire(noon.Add(Recent))
		if c := b.takeChanges()[channelID]; len(b.rows)+len(b.entries) != 0 || len(c.gone) != 1 || c.gone[0] != "a" {
			t.Errorf("%s: changes %+v", name, c)
		}
	}
}

// A long wait outlasts Recent, and the row then leaves at once.
func TestBoard_LongWaitOutlastsRecent(t *testing.T) {
	b := newBoard()
	b.put(entry(1, "a", noon, time.Hour), "", chatguard.Message{Cost: 1}, noon)
	b.expire(noon.Add(time.Hour - 1))
	if b.len("") != 1 {
		t.Error("the row left too early")
	}
	b.expire(noon.Add(time.Hour))
	if len(b.rows) != 0 {
		t.Error("the row stayed")
	}
}

func TestBoard_TotalSpansWaits(t *testing.T) {
	b := newBoard()
	for i := range 3 {
		at := noon.Add(time.Duration(i) * time.Minute)
		b.put(entry(int64(i+1), "a", at, time.Second), "", chatguard.Message{Cost: 1}, at)
		b.expire(at.Add(time.Second))
	}
	if r := b.list("", isAny)[0]; r.Count != 1 || r.Total != 3 || !r.First.Equal(noon) || r.Held {
		t.Errorf("row %+v", r)
	}
}

// A change of someone who is no longer throttled changes the strikes but does not hold them again.
func TestBoard_JudgedLaterKeepsState(t *testing.T) {
	b := newBoard()
	b.put(entry(1, "a", noon, time.Second), "", chatguard.Message{Cost: 1}, noon)
	b.expire(noon.Add(time.Second))
	seen, _ := b.find(channelID, "a")
	b.judge(seen, chatguard.Verdict{RetryAfter: time.Hour, Limit: "other", Strikes: 7}, noon.Add(time.Second))
	if r := b.list("", isAny)[0]; r.Held || r.Strikes != 7 || r.Limit != "burst" {
		t.Errorf("row %+v", r)
	}
}

// The end of a pause enforces a limit that only observed the last message, and its beginning the
// other way round.
func TestBoard_JudgedSaysWhetherLimitIsEnforced(t *testing.T) {
	b := newBoard()
	b.put(entry(1, "a", noon, time.Hour), "", chatguard.Message{Cost: 1}, noon)
	for _, observed := range []bool{true, false} {
		seen, _ := b.find(channelID, "a")
		b.judge(seen, chatguard.Verdict{At: noon, RetryAfter: time.Hour, Limit: "burst", Allowed: observed, Observed: observed}, noon)
		if r, _ := b.find(channelID, "a"); r.Observed != observed || !r.Held {
			t.Errorf("observed %v: row %+v", observed, r)
		}
	}
}

// Someone who is throttled is never evicted before someone who is not.
func TestBoard_EvictsPastFirst(t *testing.T) {
	b := newBoard()
	for i := range MaxRows {
		wait := time.Hour
		if i%2 == 1 {
			wait = time.Second
		}
		b.put(entry(int64(i+1), fmt.Sprint(i), noon.Add(time.Duration(i)), wait), "", chatguard.Message{Cost: 1}, noon)
	}
	later := noon.Add(time.Minute)
	b.expire(later)
	for i := range MaxRows / 2 {
		b.put(entry(int64(MaxRows+i+1), fmt.Sprint("new", i), later, time.Second), "", chatguard.Message{Cost: 1}, later)
		if _, ok := b.find(channelID, fmt.Sprint(2*i+1)); ok {
			t.Fatalf("the user who was throttled longest ago stayed at %d", i)
		}
	}
	if n := b.len(""); n != MaxRows || len(b.rows) != MaxRows || len(b.past) != 0 {
		t.Fatalf("%d throttled, %d rows", n, len(b.rows))
	}
	b.put(entry(1_000_000, "last", later, time.Minute), "", chatguard.Message{Cost: 1}, later)
	if _, ok := b.find(channelID, "0"); !ok || len(b.rows) != MaxRows {
		t.Errorf("%d rows; the user who waits longest was evicted", len(b.rows))
	}
}

func TestBoard_LongWaitDelaysNobodyElse(t *testing.T) {
	b := newBoard()
	b.put(entry(1, "a", noon, 10*time.Second), "", chatguard.Message{Cost: 1}, noon)
	b.put(entry(2, "b", noon, 20*time.Second), "", chatguard.Message{Cost: 1}, noon)
	b.put(entry(3, "a", noon, 30*time.Second), "", chatguard.Message{Cost: 1}, noon)
	b.expire(noon.Add(20 * time.Second))
	if rows := b.list("", isHeld); len(rows) != 1 || rows[0].UserID != "a" {
		t.Errorf("rows %+v", rows)
	}
}

func TestBoard_ReturningUserCountsFromOne(t *testing.T) {
	b := newBoard()
	b.put(entry(1, "a", noon, time.Second), "", chatguard.Message{Cost: 1}, noon)
	later := noon.Add(2 * time.Second)
	b.put(entry(2, "a", later, time.Second), "", chatguard.Message{Cost: 1}, later)
	if r := b.list("", isHeld)[0]; r.Count != 1 || !r.Since.Equal(later) {
		t.Errorf("row %+v", r)
	}
}

func TestBoard_NeverAllowedLeavesAfterMinute(t *testing.T) {
	b := newBoard()
	e := entry(1, "a", noon, 0)
	e.MaySpeakAt = journal.OptionalTime{}
	b.put(e, "", chatguard.Message{Cost: 5}, noon)
	if r := b.list("", isHeld)[0]; !r.Never {
		t.Errorf("row %+v", r)
	}
	b.expire(noon.Add(time.Minute))
	if b.len("") != 0 {
		t.Error("the row stayed")
	}
}

func TestBoard_LastOutcomeCounts(t *testing.T) {
	b := newBoard()
	b.put(entry(1, "a", noon, time.Minute), "", chatguard.Message{Cost: 1}, noon)
	b.put(entry(2, "a", noon, time.Minute), "", chatguard.Message{Cost: 1}, noon)
	b.report(journal.Outcome{Entry: 1, Result: journal.Failed})
	b.report(journal.Outcome{Entry: 2, Result: journal.Done})
	b.report(journal.Outcome{Entry: 9, Result: journal.Failed})
	if r := b.list("", isHeld)[0]; r.Outcome.Result != journal.Done {
		t.Errorf("outcome %+v", r.Outcome)
	}
}

func TestBoard_Bounded(t *testing.T) {
	b := newBoard()
	for i := range MaxRows + 5 {
		b.put(entry(int64(i+1), fmt.Sprint(i), noon, time.Hour-time.Duration(i)), "", chatguard.Message{Cost: 1}, noon)
	}
	b.put(entry(1_000_000, "longest", noon, 2*time.Hour), "", chatguard.Message{Cost: 1}, noon)
	rows := b.list("", isHeld)
	if len(rows) != MaxRows || len(b.entries) != MaxRows {
		t.Fatalf("%d rows, %d entries", len(rows), len(b.entries))
	}
	if r := rows[len(rows)-1]; r.UserID != "longest" {
		t.Errorf("the user who waits longest was dropped; the last is %s", r.UserID)
	}
}

func TestBoard_EarlierAllowedMessageRemovesNobody(t *testing.T) {
	b := newBoard()
	b.put(entry(1, "a", noon, time.Minute), "", chatguard.Message{Cost: 1}, noon)
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
	e.ChannelID, e.Login, e.DisplayName, e.MessageID, e.Text = line[2:4], line[4:8], line[8:16], line[16:18], line[18:20]
	b := newBoard()
	b.put(e, line[20:27], chatguard.Message{Cost: 1}, noon)
	start := uintptr(unsafe.Pointer(unsafe.StringData(line)))
	for key, r := range b.rows {
		for _, kept := range []string{key.channel, key.user, r.Channel, r.UserID, r.Login, r.DisplayName, r.MessageID, r.Text, r.Color} {
			if at := uintptr(unsafe.Pointer(unsafe.StringData(kept))); at >= start && at < start+uintptr(len(line)) {
				t.Errorf("%q is a part of the line", kept)
			}
		}
	}
}

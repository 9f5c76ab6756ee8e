package web

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// entry is one of a user who may speak again after so long.
func entry(id int64, user string, at time.Time, wait time.Duration) journal.Entry {
	return journal.Entry{
		ID: chatguard.EntryID(id), At: at, ChannelID: channelID, UserID: user, Limit: "burst", MaySpeakAt: journal.OptionalTime{Time: at.Add(wait)},
		Outcome: journal.Outcome{Entry: chatguard.EntryID(id), Result: journal.Pending},
	}
}

func TestRowsLeaveWhenTheUserMaySpeak(t *testing.T) {
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
		t.Errorf("changes told twice: %+v", c)
	}
}

func TestALongerWaitDelaysNobodyElse(t *testing.T) {
	b := newBoard()
	b.put(entry(1, "a", noon, 10*time.Second), 0, 1, noon)
	b.put(entry(2, "b", noon, 20*time.Second), 0, 1, noon)
	b.put(entry(3, "a", noon, 30*time.Second), 0, 1, noon)
	b.expire(noon.Add(20 * time.Second))
	if rows := b.list(""); len(rows) != 1 || rows[0].UserID != "a" {
		t.Errorf("rows %+v", rows)
	}
}

func TestAUserWhoComesBackIsCountedAnew(t *testing.T) {
	b := newBoard()
	b.put(entry(1, "a", noon, time.Second), 0, 1, noon)
	later := noon.Add(2 * time.Second)
	b.put(entry(2, "a", later, time.Second), 0, 1, later)
	if r := b.list("")[0]; r.Count != 1 || !r.Since.Equal(later) {
		t.Errorf("row %+v", r)
	}
}

func TestWhomNoWaitingHelpsLeavesAfterAMinute(t *testing.T) {
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

// TestNever_MaySpeakAt: whoever tells of a message that no waiting helps says null where there is a time otherwise.
func TestNever_MaySpeakAt(t *testing.T) {
	d := dash(t)
	l := d.listen()
	l.next(snapshotFrame)
	v, err := d.guard.Check(t.Context(), chatguard.Message{ID: "m1", ChannelID: channelID, User: spammer, Text: "hello", SentAt: d.now(), Cost: 1000})
	if err != nil || !v.Never {
		t.Fatalf("%+v, %v", v, err)
	}
	var frame []byte
	for !strings.Contains(string(frame), `"users":[{`) {
		if _, frame, err = l.conn.Read(l.ctx); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"verdict":   string(v.AppendJSON(nil)),
		"live feed": string(frame),
		"throttled": string(d.do("GET", "/api/v1/throttled?channel="+channelID, nil, asOwner).body),
		"journal":   string(d.do("GET", "/api/v1/journal?channel="+channelID, nil, asOwner).body),
		"user":      string(d.do("GET", spammerPath, nil, asOwner).body),
		"CSV":       string(d.do("GET", "/api/v1/journal?format=csv&channel="+channelID, nil, asOwner).body),
	} {
		if strings.Contains(text, "0001-01-01") && strings.Contains(text, `"may_speak_at":"`) || name == "verdict" && strings.Contains(text, "may_speak_at") {
			t.Errorf("%s: %s", name, text)
		}
		if told := strings.Contains(text, `"may_speak_at":null`); told != (name != "verdict" && name != "CSV") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

func TestOnlyTheLastOutcomeCounts(t *testing.T) {
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

func TestTheBoardIsBounded(t *testing.T) {
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
		t.Errorf("who waits longest was dropped; the last is %s", r.UserID)
	}
}

func TestPreloadShowsWhoIsStillHeldBack(t *testing.T) {
	d := dash(t)
	d.say(chatguard.User{ID: "a"}, 4)
	d.stop()
	d.start(d.opts)
	now := d.now()
	d.server.Preload([]journal.Entry{
		entry(3, "a", now.Add(-time.Second), time.Minute),
		entry(2, "a", now.Add(-2*time.Second), time.Minute),
		entry(1, "over", now.Add(-time.Hour), time.Minute),
	})
	users := d.throttled()
	if len(users) != 1 || users[0].Count != 2 || users[0].Outcome.Entry != 3 {
		t.Errorf("users %+v", users)
	}
	d.pass(10 * time.Minute)
	if users := d.throttled(); len(users) != 0 {
		t.Errorf("10 minutes later: %+v", users)
	}
}

func TestObservedUsersAreShownAsSuch(t *testing.T) {
	d := dash(t)
	d.put(func(p *chatguard.Policy) { p.Mode = chatguard.Observe })
	d.say(spammer, 5)
	users := d.throttled()
	if len(users) != 1 || !users[0].Observed || users[0].Count != 2 || users[0].Penalty.Action != chatguard.Delete {
		t.Errorf("users %+v", users)
	}
}

func TestLongNamesAreClipped(t *testing.T) {
	d := dash(t)
	d.say(chatguard.User{ID: "42", Login: strings.Repeat("é", 10_000)}, 4)
	if users := d.throttled(); len(users) != 1 || users[0].Login != journal.Clip(strings.Repeat("é", 10_000), journal.MaxName) {
		t.Errorf("users %.999v", users)
	}
}

func TestWhoIsAllowedAgainLeaves(t *testing.T) {
	d := dash(t)
	d.say(spammer, 4)
	d.say(chatguard.User{ID: "43"}, 4)
	moderator := spammer
	moderator.Roles = chatguard.RolesOf(chatguard.Moderator)
	if v := d.say(moderator, 1); !v.Allowed {
		t.Fatalf("verdict %+v", v)
	}
	if users := d.throttled(); len(users) != 1 || users[0].UserID != "43" {
		t.Errorf("users %+v", users)
	}
}

func TestAnEarlierAllowedMessageRemovesNobody(t *testing.T) {
	b := newBoard()
	b.put(entry(1, "a", noon, time.Minute), 0, 1, noon)
	b.allow(channelID, "a", noon.Add(-1))
	b.allow("another", "a", noon.Add(1))
	if b.len(channelID) != 1 {
		t.Error("the row has left")
	}
	b.allow(channelID, "a", noon.Add(1))
	if b.len(channelID) != 0 || len(b.sizes) != 0 || b.users.of("a").Load() != 0 {
		t.Errorf("%d rows are left, sizes %v", b.len(""), b.sizes)
	}
}

func TestObservingAllowedMessagesAllocatesNothing(t *testing.T) {
	alone(t) // what others need isn't to be counted
	d := dash(t)
	d.say(spammer, 4)
	m := chatguard.Message{ChannelID: channelID, User: chatguard.User{ID: "43"}}
	v := chatguard.Verdict{At: noon, ChannelID: channelID, UserID: "43", Allowed: true}
	if n := testing.AllocsPerRun(1000, func() { d.server.Observe(m, v) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestPreloadLeavesOutWhomTheGuardAllows(t *testing.T) {
	d := dash(t)
	now := d.now()
	d.server.Preload([]journal.Entry{entry(1, "a", now, time.Minute)})
	if users := d.throttled(); len(users) != 0 {
		t.Errorf("users %+v", users)
	}
}

func TestAVerdictUnderTheOldPolicyDoesntStay(t *testing.T) {
	d := dash(t)
	into[journal.Revision](t, d.put(burst(9)))
	v := chatguard.Verdict{At: d.now(), ChannelID: channelID, UserID: "late", Limit: "burst", RetryAfter: time.Hour, EntryID: 1}
	d.server.Observe(chatguard.Message{ChannelID: channelID}, v)
	d.server.revised.add(channelID) // as if the pump's turn had come after the verdict
	l := d.listen()
	for fr := l.next(snapshotFrame); len(fr.Gone) == 0 && len(fr.Users) > 0; fr = l.next(throttledFrame) {
	}
	if users := d.throttled(); len(users) != 0 {
		t.Errorf("users %+v", users)
	}
}

func TestANewPolicyDoesntChangeWhatWasDone(t *testing.T) {
	d := dash(t)
	d.say(spammer, 4)
	into[journal.Revision](t, d.put(func(p *chatguard.Policy) { p.Mode = chatguard.Observe }))
	if users := d.throttled(); len(users) != 1 || users[0].Observed || users[0].Outcome.Result != journal.Pending {
		t.Errorf("users %+v", users)
	}
}

func TestTheBoardKeepsNoLinesAlive(t *testing.T) {
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

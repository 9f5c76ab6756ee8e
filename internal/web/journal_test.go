//go:build !race

package web

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

var (
	berta  = chatguard.User{ID: "81", Login: "berta"}
	teapot = chatguard.User{ID: "82", Login: "teapot"}
)

// wantEntries requests entries and fails the test unless it gets exactly those wanted.
func (d *dashboard) wantEntries(query string, more bool, want ...chatguard.EntryID) {
	d.Helper()
	got := decode[entryPage](d, d.do("GET", "/api/v1/journal?"+query, nil, asOwner))
	var ids []chatguard.EntryID
	for _, e := range got.Entries {
		ids = append(ids, e.ID)
	}
	if !slices.Equal(ids, want) || got.More != more {
		d.Errorf("%s: %d, more %v; want %d, %v", query, ids, got.More, want, more)
	}
}

// Pending entries are found like those already written.
func TestJournal_Filters(t *testing.T) {
	d := dash(t)
	first := d.say(berta, 4)
	second := d.say(teapot, 4)
	d.flush()
	third := d.say(berta, 1)
	d.reportOutcome(first, journal.Failed, "not a moderator")
	d.reportOutcome(second, journal.Done, "")
	noon := url.QueryEscape(d.now().Add(time.Hour).Format(time.RFC3339))
	for range 2 {
		d.wantEntries("", false, third.EntryID, second.EntryID, first.EntryID)
		d.wantEntries("channel="+channelID, false, third.EntryID, second.EntryID, first.EntryID)
		d.wantEntries("user=berta", false, third.EntryID, first.EntryID)
		d.wantEntries("user=@BERTA", false, third.EntryID, first.EntryID)
		d.wantEntries("user="+teapot.ID, false, second.EntryID)
		d.wantEntries("limit=burst", false, third.EntryID, second.EntryID, first.EntryID)
		d.wantEntries("limit=of+an+earlier+policy", false)
		d.wantEntries("result=failed", false, first.EntryID)
		d.wantEntries("result=pending&user=berta", false, third.EntryID)
		d.wantEntries("action=delete&result=done", false, second.EntryID)
		d.wantEntries("action=ban", false)
		d.wantEntries("until="+noon, false, third.EntryID, second.EntryID, first.EntryID)
		d.wantEntries("from="+noon, false)
		d.wantEntries("n=2", true, third.EntryID, second.EntryID)
		d.wantEntries(fmt.Sprintf("n=2&before=%d", second.EntryID), false, first.EntryID)
		d.flush()
	}
}

func TestJournal_Refused(t *testing.T) {
	d := dash(t)
	for query, says := range map[string]string{
		"action=kick":               `\"action\" must be one of \"none\" \"delete\" \"warn\" \"timeout\" \"ban\" \"drop\", not \"kick\".`,
		"result=maybe":              `\"pending\" \"done\" \"failed\" \"unknown\" \"skipped\" \"observed\"`,
		"format=xml":                `\"json\" \"csv\"`,
		"n=0":                       "from 1 to 500",
		"n=501":                     "from 1 to 500",
		"before=-1":                 "whole number",
		"from=yesterday":            "a time such as",
		"from=9999-01-01T00:00:00Z": "a time such as",
		"user=" + long:              "256 bytes at most",
		"from=2026-01-05T20:00:00Z&until=2026-01-05T20:00:00Z": "Nothing lies between",
	} {
		d.wantProblem(query, "GET", "/api/v1/journal?"+query, nil, owned, 422, says)
	}
	d.store.reads.set(errors.New("damaged: /secret/path"))
	for _, path := range []string{"/api/v1/journal", "/api/v1/journal?format=csv"} {
		d.wantProblem("in trouble", "GET", path, nil, owned, 503, "The journal can't be read now: the database is failing.")
	}
}

// An export has all matching entries, over several pages.
func TestJournal_Export(t *testing.T) {
	d := dash(t)
	var repeats journal.Repeats // of the message that is written next
	d.store.RecordRepeats(func(chatguard.EntryID) journal.Repeats { return repeats })
	d.say(berta, 3)
	repeats = journal.Repeats{Times: 4, People: 37, Window: "30s"}
	hostile := d.write(berta, `=HYPERLINK("http://example.org","hello")`)
	repeats = journal.Repeats{}
	d.reportOutcome(hostile, journal.Failed, "-1 is no answer")
	const many = 2*csvPage + 5
	d.say(berta, many-1)
	d.say(teapot, 4)
	d.flush()
	rows := d.do("GET", "/api/v1/journal?format=csv&n=3&user=berta", nil, asOwner).parseTable(t)
	if len(rows) != 1+many || !slices.Equal(rows[0], entryColumns) {
		t.Fatalf("%d rows below %q", len(rows)-1, rows[0])
	}
	ids := column(t, rows, "entry")
	if !slices.IsSortedFunc(ids, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(b, a)) }) || len(slices.Compact(ids)) != many {
		t.Error("the entries aren't each there once, the newest first")
	}
	last := rows[len(rows)-1:]
	for name, want := range map[string]string{
		"entry": fmt.Sprint(hostile.EntryID), "at": hostile.At.UTC().Format(time.RFC3339Nano), "channel": channelID, "user_id": berta.ID, "login": "berta",
		"limit": "burst", "penalty": "delete", "action": "delete", "result": "failed", "reason": "'-1 is no answer", "strikes": "1", "cost": "1",
		"text": `'=HYPERLINK("http://example.org","hello")`, "repeat_times": "4", "repeat_people": "37", "repeat_window": "30s",
	} {
		if got := column(t, append(rows[:1:1], last...), name)[0]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if !slices.Equal(rows[1][len(entryColumns)-3:], []string{"", "", ""}) {
		t.Errorf("without repeats: %q", rows[1])
	}
}

// write lets a user write a text now.
func (d *dashboard) write(user chatguard.User, text string) chatguard.Verdict {
	d.Helper()
	m := chatguard.Message{ID: rand.Text(), ChannelID: channelID, User: user, Text: text, SentAt: d.now()}
	v, err := d.guard.Check(context.Background(), m)
	if err != nil {
		d.Fatal(err)
	}
	return v
}

// reportOutcome reports the outcome of acting on a throttled message.
func (d *dashboard) reportOutcome(v chatguard.Verdict, result journal.Result, reason string) {
	d.store.Report(journal.Outcome{Entry: v.EntryID, At: d.now(), Action: v.Penalty.Action, Result: result, Reason: reason})
}

//go:build !race

package persist

import (
	"bytes"
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// withKey returns a Guard with a key of texts.
func withKey(t testing.TB, key byte) *chatguard.Guard {
	t.Helper()
	g, err := chatguard.New(policy(), &chatguard.Options{TextKey: [16]byte{key}})
	must(t, err)
	return g
}

// openTexts opens a database and records the prints that a Guard with the key makes.
func openTexts(t testing.TB, path string, key byte, now *time.Time, retention time.Duration) (*Store, *chatguard.Guard) {
	t.Helper()
	s := open(t, path, &Options{Now: func() time.Time { return *now }, TextRetention: retention})
	s.RecordTexts(withKey(t, key).TextPrint)
	return s, guardOf(t, s, policy())
}

// prints returns the prints of a channel's timeline.
func (s *Store) prints(t testing.TB, channelID string) (list []chatguard.TextPrint) {
	t.Helper()
	must(t, s.Timeline(ctx, channelID, time.Unix(0, 0), func(said []journal.TimelineMessage) error {
		for _, m := range said {
			list = append(list, m.Print)
		}
		return nil
	}))
	return list
}

func wantPrints(t testing.TB, when string, got []chatguard.TextPrint, want ...chatguard.TextPrint) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: the prints are\n%v, want\n%v", when, got, want)
	}
}

// TestTexts_Recorded checks that each message's print is in the timeline, pending, being written
// and stored, and that the text is nowhere.
func TestTexts_Recorded(t *testing.T) {
	t.Parallel()
	now, path := start, newDatabase(t)
	s, g := openTexts(t, path, 1, &now, time.Hour)
	of := withKey(t, 1).TextPrint
	const short = "nobody reads this short text"
	long := "nor this long one " + strings.Repeat("語文", 31) // 204 bytes
	given := of("a print without its text")
	verdict := of("what a limit has computed")
	for i, text := range []string{short, long, ""} {
		m := message("7", start.Add(time.Duration(i)))
		m.Text = text
		_, err := g.Check(ctx, m)
		must(t, err)
	}
	s.Observe(chatguard.Message{ChannelID: "c1", User: chatguard.User{ID: "7"}, Print: &given}, chatguard.Verdict{At: start.Add(3)})
	s.Observe(chatguard.Message{ChannelID: "c1", User: chatguard.User{ID: "7"}, Text: short}, chatguard.Verdict{At: start.Add(4), Print: verdict})
	want := []chatguard.TextPrint{of(short), of(long), {}, given, verdict}
	wantPrints(t, "pending", s.prints(t, "c1"), want...)
	for i, row := range s.queue.timeline.rowsOf("c1").rows {
		if want := []string{short, "", "", "", ""}[i]; row.text != want {
			t.Errorf("until the next flush, message %d keeps the text %q, want %q", i, row.text, want)
		}
	}
	taken := s.queue.take()
	for i := range taken.timeline {
		if text := taken.timeline[i].text; text != "" {
			t.Errorf("after a flush has begun, %q is still there", text)
		}
	}
	wantPrints(t, "being written", s.prints(t, "c1"), want...)
	s.queue.putBack(taken)
	s.mustFlush(t, g)
	wantPrints(t, "stored", s.prints(t, "c1"), want...)
	s.wantCount(t, 4, "SELECT count(*) FROM timeline WHERE length(print) BETWEEN 20 AND 48")
	must(t, s.Close())
	data, err := os.ReadFile(path)
	must(t, err)
	if bytes.Contains(data, []byte("nobody reads")) || bytes.Contains(data, []byte("nor this long")) {
		t.Error("the text is in the database")
	}

	wantOther := func(want bool, print func(string) chatguard.TextPrint) {
		t.Helper()
		if other, err := HasOtherTexts(ctx, path, print); err != nil || other != want {
			t.Errorf("hashes with another key: %t, %v, want %t", other, err, want)
		}
	}
	wantOther(false, of)
	wantOther(true, withKey(t, 2).TextPrint)
	wantOther(true, nil)
	s, _ = openTexts(t, path, 1, &now, time.Hour)
	wantPrints(t, "after a restart", s.prints(t, "c1"), want...)
	must(t, s.Close())
	s, g = openTexts(t, path, 2, &now, time.Hour)
	m := message("7", start.Add(5))
	m.Text = short
	_, err = g.Check(ctx, m)
	must(t, err)
	s.mustFlush(t, g)
	none := chatguard.TextPrint{}
	wantPrints(t, "with another key", s.prints(t, "c1"), none, none, none, none, none, withKey(t, 2).TextPrint(short))
	s.exec(t, "UPDATE timeline SET print = NULL")
	wantOther(false, nil)
	s.exec(t, "INSERT INTO state VALUES ('c1', char(31) || 'uet12.', 'repeats', x'00')")
	wantOther(true, nil)
	wantOther(false, of) // unknown
	must(t, s.Close())
	path = filepath.Join(t.TempDir(), "older.db")
	must(t, openMigrated(t, path, Schema.Steps[:14]).Close()) // without prints
	wantOther(false, nil)
}

// TestTexts_Retention checks that prints are deleted in time, and that their messages stay.
func TestTexts_Retention(t *testing.T) {
	t.Parallel()
	now, path := start, newDatabase(t)
	s, g := openTexts(t, path, 1, &now, time.Hour)
	said := func(channelID string, at time.Time) {
		m := message("7", at)
		m.ChannelID, m.Text = channelID, "again and again"
		_, err := g.Check(ctx, m)
		must(t, err)
	}
	const many = 2*sweepStep + 10
	for i := range many {
		said("c1", start.Add(time.Duration(i)))
		said("c1", start.Add(time.Duration(i/2))) // several at one time
	}
	said("c1", start.Add(30*time.Minute))
	said("c2", start.Add(time.Minute))
	said("c3", start.Add(50*time.Minute))
	turn := func(at time.Duration) {
		t.Helper()
		now = start.Add(at)
		for range 10 {
			s.sweeper.at = time.Time{}
			s.runTurn(context.Background(), g)
			s.wantHealth(t, OK, "")
		}
	}
	const left = "SELECT count(*) FROM timeline WHERE print IS NOT NULL"
	turn(time.Hour)
	s.wantCount(t, 2*many+3, left)
	turn(time.Hour + 2*time.Second)
	s.wantCount(t, 3, left)
	said("c1", start.Add(time.Second)) // late
	turn(time.Hour + time.Minute + 1)
	s.wantCount(t, 2, left)
	turn(2 * time.Hour)
	s.wantCount(t, 0, left)
	said("c2", now)
	s.mustFlush(t, g)
	s.wantCount(t, 1, left)
	s.wantCount(t, 2*many+5, "SELECT count(*) FROM timeline")
	must(t, s.Close())

	s, g = openTexts(t, path, 1, &now, 0) // a restart, and no prints any more
	said("c2", now.Add(1))
	turn(4 * time.Hour)
	s.wantCount(t, 0, left)
	s.wantCount(t, 2*many+6, "SELECT count(*) FROM timeline")
}

// readOnly is a database that nothing may write.
type readOnly struct {
	database
	t testing.TB
}

func (db readOnly) Write(context.Context, func(*sql.Tx) error) error {
	db.t.Error("a transaction without prints to delete")
	return nil
}

// TestTexts_RetentionReadsInSteps checks that messages without prints need no transaction, and that
// one step doesn't look at all of them.
func TestTexts_RetentionReadsInSteps(t *testing.T) {
	t.Parallel()
	now := start.Add(3 * time.Hour)
	s, _ := openTexts(t, newDatabase(t), 1, &now, time.Hour)
	for i, channelID := range []string{"c1", "c2"} {
		s.createRecords(t, "INSERT INTO timeline (channel_id, at, number, user_id, login, roles, cost, print) SELECT '"+channelID+"', ?3 + i, i, '7', '', '', 1, NULL FROM n", 1, printStep-1+3*i, start)
		s.exec(t, "INSERT INTO rolled_up VALUES (?, ?, 0)", channelID, now.UnixNano())
	}
	s.exec(t, "UPDATE timeline SET print = x'00' WHERE channel_id = 'c2' AND number = ?", printStep+2)
	expire := func(wantMore bool) {
		t.Helper()
		more, err := s.sweeper.expirePrints(ctx, now)
		must(t, err)
		if more != wantMore {
			t.Errorf("there may be more: %t, want %t", more, wantMore)
		}
	}
	db := s.sweeper.db
	s.sweeper.db = readOnly{db, t}
	expire(true)
	if at := s.sweeper.prints["c2"]; at != start.UnixNano()+2 {
		t.Errorf("after a step, the second channel was searched up to %d, want its first message", at-start.UnixNano())
	}
	expire(true)
	s.sweeper.db = db
	expire(false)
	s.wantCount(t, 0, "SELECT count(*) FROM timeline WHERE print IS NOT NULL")
	s.sweeper.db = readOnly{db, t}
	expire(false)
}

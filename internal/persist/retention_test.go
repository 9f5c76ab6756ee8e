package persist

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/internal/turntest"
)

// retiring lists the kinds of records that expire. insert creates the records with the numbers ?1
// to ?2, all at the time ?3.
var retiring = []struct {
	table string
	// lives is the time from a record's own time to its deletion, exact to the nanosecond.
	lives  time.Duration
	insert string
	stays  int // records that never expire
}{
	{"journal", 72*time.Hour + 1, `INSERT INTO journal SELECT i, ?3, 'c1', 'u', 'login', 'name', 'm', 'text', 'burst', 0, 0, 1, 'delete', 0, 'delete', 'done', '', 1, 0, 0, 0, 0, 0, 0, 0, '' FROM n`, 0},
	{"timeline", timelineTime + 1, `INSERT INTO timeline SELECT 'c1', ?3, i, 'u', 'login', 1, 0, '', 0, '', '', NULL FROM n`, 0},
	{"person", 72*time.Hour + 1, `INSERT INTO person SELECT 'c2', i, 'login', ?3, '', '', '' FROM n`, 0},
	{"quarter_hour", quarterTime + 1, `INSERT INTO quarter_hour SELECT 'c2', i, ?3, 1 FROM n`, 0},
	{"stream", 72*time.Hour + 1, `INSERT INTO stream SELECT 'c1', i, ?3, 0 FROM n`, 0},
	{"token", 0, `INSERT INTO token (hash, kind, name, expires_at) SELECT randomblob(32), 'code', 'Ada', ?3 FROM n`, 0},
	{"audit", auditTime + 1, `INSERT INTO audit SELECT i, ?3, 'Ada', 'grant', 'c1', 'u', '5' FROM n`, 0},
	// after the next one came into force
	{"revision", auditTime + 2, `INSERT INTO revision SELECT 'c1', i, 'Ada', ?3, NULL, 'null' FROM n`, 1},
}

// createRecords stores records of one kind.
func (s *Store) createRecords(t testing.TB, insert string, first, last int, at time.Time) {
	t.Helper()
	s.exec(t, "WITH RECURSIVE n (i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2) "+insert, first, last, at.UnixNano())
}

func TestRetention_NothingTooEarly(t *testing.T) {
	t.Parallel()
	for _, kind := range retiring {
		t.Run(kind.table, func(t *testing.T) {
			now := start
			s, g := openWithGuard(t, &Options{Retention: 72 * time.Hour, Now: func() time.Time { return now }})
			s.createRecords(t, kind.insert, 1, 1, start)
			s.createRecords(t, kind.insert, 2, 2, start.Add(1))
			s.createRecords(t, kind.insert, 3, 3, start.Add(2*auditTime)) // the last revision stays anyway
			for _, step := range []struct {
				at   time.Duration
				left int
			}{{kind.lives - 1, 3}, {kind.lives, 2}, {kind.lives + 1, 1 + kind.stays}} {
				now = start.Add(step.at)
				s.sweeper.at, s.sweeper.idle = time.Time{}, idleWalk{}
				s.runTurn(ctx, g)
				if n := s.countRows(t, kind.table); n != step.left {
					t.Errorf("%d records after %v, want %d", n, step.at, step.left)
				}
			}
		})
	}
}

func TestRetention_TimelineOfEveryChannel(t *testing.T) {
	t.Parallel()
	now := start
	s, g := openWithGuard(t, &Options{Now: func() time.Time { return now }})
	speak := func(at time.Time, channels ...string) {
		for _, channelID := range channels {
			for range 3 {
				s.Observe(chatguard.Message{ChannelID: channelID, User: chatguard.User{ID: "u"}}, chatguard.Verdict{At: at})
			}
		}
	}
	fresh := start.Add(time.Hour)
	speak(start, "a", "b", "d", "é", "zz") // c has nothing old
	speak(fresh, "b", "c", "zz")           // a, d and é have nothing new
	now = start.Add(timelineTime + 1)
	s.runTurn(ctx, g)
	s.wantCount(t, 0, "SELECT count(*) FROM timeline WHERE at = ?", start.UnixNano())
	for _, channelID := range []string{"b", "c", "zz"} {
		if n := s.count(t, "SELECT count(*) FROM timeline WHERE channel_id = ? AND at = ?", channelID, fresh.UnixNano()); n != 3 {
			t.Errorf("%d of 3 fresh messages are left in channel %s", n, channelID)
		}
	}
}

// A channel's last revision says what is in force, even if that is the configuration.
func TestRetention_KeepsLastRevision(t *testing.T) {
	t.Parallel()
	path := newDatabase(t)
	years := func(n float64) time.Time { return start.Add(time.Duration(n * float64(auditTime))) }
	s := open(t, path, &Options{Now: at(years(0.5))})
	stop := startRun(t, s, guardOf(t, s, policy()))
	save := func(channelID string, at time.Time) journal.Revision {
		r := revision(channelID, 5)
		r.At = at
		return saveRevision(t, s, r)
	}
	save("long ago", years(0))
	save("long ago", years(0.1))
	inForce := save("long ago", years(0.2))
	only := save("only", years(0))
	superseded := save("lately", years(0))
	kept, last := save("lately", years(4.5)), save("lately", years(4.9))
	save("discarded", years(0))
	discard, _, err := s.DiscardRevisions(ctx, "discarded", "Grace")
	must(t, err)
	stop()
	must(t, s.Close())
	late := &Options{Now: at(years(5))}
	s = open(t, path, late)
	s.runTurn(ctx, guardOf(t, s, policy()))
	must(t, s.Close())

	s = open(t, path, late)
	wantRevisions(t, inForce)(newest(s.Revisions(ctx, "long ago", 0, 50)))
	wantRevisions(t, only)(newest(s.Revisions(ctx, "only", 0, 50)))
	wantRevisions(t, last, kept, superseded)(newest(s.Revisions(ctx, "lately", 0, 50)))
	wantRevisions(t, discard)(newest(s.Revisions(ctx, "discarded", 0, 50)))
	wantRevisions(t, last, inForce, only)(s.CurrentRevisions(ctx))
	startRun(t, s, guardOf(t, s, policy()))
	for channelID, number := range map[string]int{"long ago": 4, "only": 2, "lately": 4, "discarded": 3} {
		if r := save(channelID, years(5)); r.Number != number {
			t.Errorf("the next revision of channel %q is %d, want %d", channelID, r.Number, number)
		}
	}
}

func TestRetention_OneStepOfEachKind(t *testing.T) {
	t.Parallel()
	now := start.Add(2 * auditTime)
	s, g := openWithGuard(t, &Options{Now: func() time.Time { return now }})
	// so that the timeline adds nothing
	s.exec(t, "INSERT INTO rolled_up VALUES ('c1', ?, 0)", now.UnixNano())
	const old = 2*sweepStep + 1
	for _, kind := range retiring {
		s.createRecords(t, kind.insert, 1, old, start)
		s.createRecords(t, kind.insert, old+1, old+1, now.Add(time.Hour)) // stays
	}
	for _, want := range []int{sweepStep + 2, 2, 1, 1} {
		s.runTurn(ctx, g)
		for _, kind := range retiring {
			if n, want := s.countRows(t, kind.table), max(want, 1+kind.stays); n != want {
				t.Errorf("%s: %d records are left, want %d", kind.table, n, want)
			}
		}
	}
}

func TestRetention_DeletesTwiceWhatIsWritten(t *testing.T) {
	t.Parallel()
	turntest.Expensive(t)
	now := start.Add(2 * auditTime)
	for _, test := range []struct{ written, goes int }{
		{0, sweepStep}, {sweepStep/2 - 1, sweepStep}, {sweepStep / 2, 2 * sweepStep}, {2 * sweepStep, 5 * sweepStep},
	} {
		s, g := openWithGuard(t, &Options{Now: at(now)})
		const old = 5*sweepStep + 1
		for _, kind := range retiring[:2] {
			s.createRecords(t, kind.insert, 1, old, start)
		}
		for range test.written {
			s.Observe(message("u", now), chatguard.Verdict{At: now})
		}
		s.runTurn(ctx, g)
		for _, kind := range retiring[:2] {
			want := old - test.goes
			if kind.table == "timeline" {
				want += test.written
			}
			if n := s.countRows(t, kind.table); n != want {
				t.Errorf("%s after a turn that wrote %d: %d records are left, want %d", kind.table, test.written, n, want)
			}
		}
	}
}

// planOf returns the steps of a statement.
func planOf(t *testing.T, db *sqlite.DB, statement string, args ...any) (steps []string) {
	t.Helper()
	must(t, db.Query(ctx, func(rows *sql.Rows) error {
		var id, parent, unused int
		var step string
		err := rows.Scan(&id, &parent, &unused, &step)
		steps = append(steps, step)
		return err
	}, "EXPLAIN QUERY PLAN "+statement, args...))
	return steps
}

// Expired records are found by an index, however large the table is, and deleted by key. Tokens and
// revisions are few, so those tables are scanned.
func TestRetention_UsesIndexes(t *testing.T) {
	t.Parallel()
	s := open(t, newDatabase(t), nil)
	// looked lists the allowed scans; the subquery has a row for each channel.
	looked := map[string][]string{"timeline": {"SCAN rolled_up"}, "token": {"SCAN token"}, "revision": {"SCAN revision", "SCAN (subquery-1)"}}
	for i, r := range retirement {
		table := retiring[i].table // both lists have the same order
		plan := planOf(t, s.db, r.statement, 0, 0)
		if key := "SEARCH " + table + " USING "; len(plan) == 0 || !strings.HasPrefix(plan[0], key+"PRIMARY KEY") && !strings.HasPrefix(plan[0], key+"INTEGER PRIMARY KEY") {
			t.Errorf("%s is deleted by another way: %q", table, plan)
		}
		for _, step := range plan {
			if strings.HasPrefix(step, "SCAN") && !slices.Contains(looked[table], step) && step != "SCAN channels" || strings.Contains(step, "TEMP B-TREE") {
				t.Errorf("%s: %s", table, step)
			}
		}
	}
}

func TestRetention_WaitsForItsTime(t *testing.T) {
	t.Parallel()
	now := start
	s, g := openWithGuard(t, &Options{Retention: time.Hour, Now: func() time.Time { return now }})
	s.runTurn(ctx, g)
	s.Observe(throttledMessage(1, "c1", "u", time.Second))
	now = start.Add(sweepInterval - time.Nanosecond)
	s.mustFlush(t, g)
	s.exec(t, "UPDATE journal SET at = 0")
	s.runTurn(ctx, g)
	s.wantRows(t, "journal", 1) // not before its time
	now = start.Add(sweepInterval)
	s.runTurn(ctx, g)
	s.wantRows(t, "journal", 0)
}

// Every six hours 30 new users send one message too many. What they leave behind is deleted as fast
// as new rows arrive.
func TestRetention_FileStopsGrowing(t *testing.T) {
	t.Parallel()
	turntest.Expensive(t)
	now := start
	s, g := openWithGuard(t, &Options{Retention: 72 * time.Hour, Now: func() time.Time { return now }})
	var early int64
	for hour := 0; hour < 20*24; hour += 6 {
		for user := range 30 {
			for range 4 {
				say(t, g, fmt.Sprint(hour, "-", user), now)
			}
		}
		s.runTurn(ctx, g)
		if hour == 10*24 {
			early = s.Size()
		}
		now = now.Add(6 * time.Hour)
	}
	s.wantHealth(t, OK, "")
	if late := s.Size(); late > early+early/10 {
		t.Errorf("%d bytes after 10 days, %d after 20", early, late)
	}
}

package persist

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// However messages, flushes and failed flushes follow one another, after the last flush another Guard goes on where the first one ended.
func TestWhatIsRestoredIsWhatWasFlushed(t *testing.T) {
	dir, run := t.TempDir(), 0
	users := []string{"1", "2", "18446744073709551616", "ümläut", "a b"}
	rapid.Check(t, func(rt *rapid.T) {
		run++
		path := filepath.Join(dir, fmt.Sprint(run, ".db"))
		s := open(t, path, nil)
		g := guardOf(t, s, policy())
		now := start
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0:
				s.mustFlush(t, g)
			case 1:
				s.exec(t, "PRAGMA query_only = ON")
				_, _ = s.flush(ctx, g) // fails where there is anything to write
				s.exec(t, "PRAGMA query_only = OFF")
			default:
				now = now.Add(time.Duration(rapid.Int64Range(0, int64(20*time.Second)).Draw(rt, "later")))
				say(t, g, rapid.SampledFrom(users).Draw(rt, "user"), now)
			}
		}
		s.mustFlush(t, g)
		must(t, s.Close())

		again := open(t, path, nil)
		assertSame(t, g, guardOf(t, again, policy()), users...)
		must(t, again.Close())
	})
}

func TestUnreadableRowIsCountedAndKept(t *testing.T) {
	path := databasePath(t)
	s := open(t, path, nil)
	g := guardOf(t, s, policy())
	for _, user := range []string{"1", "2", "3"} {
		say(t, g, user, start)
	}
	s.mustFlush(t, g)
	s.exec(t, "UPDATE state SET data = x'FF' WHERE user_id = '2' AND limit_name = 'daily'")
	rows := s.count(t, "SELECT count(*) FROM state")
	must(t, s.Close())

	s = open(t, path, nil)
	fresh, stats := restored(t, s, policy())
	if stats.Unreadable != 1 || stats.Rows != rows-1 {
		t.Errorf("%+v of %d rows", stats, rows)
	}
	say(t, fresh, "1", start)
	s.turn(ctx, fresh)
	if n := s.count(t, "SELECT count(*) FROM state WHERE data = x'FF'"); n != 1 {
		t.Error("the unreadable row is gone")
	}
}

// The policy in force decides which rows count; those of other limits stay for when it comes back.
func TestRowsOfUnknownLimitsStay(t *testing.T) {
	path := databasePath(t)
	s := open(t, path, nil)
	g := guardOf(t, s, policy())
	say(t, g, "1", start)
	s.mustFlush(t, g)
	must(t, s.Close())

	s = open(t, path, nil)
	other := policy()
	other.Limits = other.Limits[:1]
	changed := guardOf(t, s, other)
	say(t, changed, "1", start)
	s.mustFlush(t, changed)
	must(t, s.Close())

	back := guardOf(t, open(t, path, nil), policy())
	if n := remaining(t, back, "1", start.Add(time.Hour)); n != 3 {
		t.Errorf("burst leaves %d", n)
	}
	p := policy()
	p.Limits = p.Limits[1:]
	must(t, back.SetPolicy("c1", p, start))
	if n := remaining(t, back, "1", start.Add(time.Hour)); n != 299 {
		t.Errorf("daily leaves %d, want what the first day left", n)
	}
}

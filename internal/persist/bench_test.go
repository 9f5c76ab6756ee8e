package persist

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/state"
)

const (
	manyUsers  = 1_000_000
	dirtyUsers = 100_000
)

// newCrowd returns a store with that many users, and the Guard that they come from. The store
// doesn't observe the Guard's verdicts.
func newCrowd(b *testing.B, users int) (*Store, *chatguard.Guard) {
	b.Helper()
	s := open(b, databasePath(b), nil)
	g, err := chatguard.New(dailyPolicy(), &chatguard.Options{Now: s.opts.Now})
	must(b, err)
	_, err = s.Restore(ctx, g)
	must(b, err)
	for user := range users {
		say(b, g, userID(user), start)
	}
	s.mustFlush(b, g)
	return s, g
}

// userID returns the ID of a user. The IDs have about as many digits as Twitch's IDs.
func userID(user int) string { return fmt.Sprint(uint32(user) * 2654435761) }

// BenchmarkFlush writes 100,000 users into a table of a million, from the Guard to the commit. The
// same run writes the same sorted rows into the same table using only the driver. The two ways take
// turns in going first, because the second one finds the pages cached.
func BenchmarkFlush(b *testing.B) {
	s, g := newCrowd(b, manyUsers)
	var rawTime, flushTime time.Duration
	var written float64
	rawFirst := false
	for b.Loop() {
		for range dirtyUsers {
			say(b, g, userID(rand.IntN(manyUsers)), start)
		}
		batch := g.State().Dirty()
		rows := slices.SortedFunc(batch.Rows(), compareKeys)
		batch.Release()
		written += float64(len(rows))

		rawFirst = !rawFirst
		if rawFirst {
			rawTime += measureTime(func() { writeRaw(b, s.db, rows) })
		}
		flushTime += measureTime(func() { s.mustFlush(b, g) })
		if !rawFirst {
			rawTime += measureTime(func() { writeRaw(b, s.db, rows) })
		}
	}
	b.ReportMetric(written/float64(b.N), "rows/flush")
	b.ReportMetric(written/flushTime.Seconds(), "rows/s")
	b.ReportMetric(written/rawTime.Seconds(), "raw-rows/s")
	b.ReportMetric(rawTime.Seconds()/flushTime.Seconds(), "of-raw")
}

func measureTime(work func()) time.Duration {
	began := time.Now()
	work()
	return time.Since(began)
}

func writeRaw(b *testing.B, db *sqlite.DB, rows []state.Row) {
	b.Helper()
	tx, err := db.Writer.BeginTx(ctx, nil)
	must(b, err)
	stmt, err := tx.PrepareContext(ctx, "INSERT INTO state VALUES (?,?,?,?)"+strings.Repeat(",(?,?,?,?)", 499)+
		" ON CONFLICT DO UPDATE SET data = excluded.data")
	must(b, err)
	args := make([]any, 0, 2000)
	for chunk := range slices.Chunk(rows[:len(rows)-len(rows)%500], 500) {
		args = args[:0]
		for _, r := range chunk {
			args = append(args, r.ChannelID, r.UserID, r.Limit, r.Data)
		}
		_, err := stmt.ExecContext(ctx, args...)
		must(b, err)
	}
	must(b, stmt.Close())
	must(b, tx.Commit())
}

// BenchmarkFlushTimeline writes 100,000 new messages of one channel.
func BenchmarkFlushTimeline(b *testing.B) {
	s := open(b, databasePath(b), nil)
	g := guardOf(b, s, dailyPolicy())
	var took time.Duration
	for i := 0; b.Loop(); i++ {
		for n := range dirtyUsers {
			m := message(userID(n), start.Add(time.Duration(i)*time.Second+time.Duration(n)*time.Microsecond))
			s.Observe(m, chatguard.Verdict{At: m.SentAt})
		}
		took += measureTime(func() { s.mustFlush(b, g) })
	}
	b.ReportMetric(dirtyUsers*float64(b.N)/took.Seconds(), "rows/s")
}

// BenchmarkRestore restores a million users, and in the same run scans the same rows using only the
// driver.
func BenchmarkRestore(b *testing.B) {
	s, _ := newCrowd(b, manyUsers)
	var scanTime, restoreTime time.Duration
	for b.Loop() {
		scanTime += measureTime(func() { scanAll(b, s) })
		g, err := chatguard.New(dailyPolicy(), nil)
		must(b, err)
		restoreTime += measureTime(func() { _, err = s.Restore(ctx, g) })
		must(b, err)
	}
	b.ReportMetric(manyUsers*float64(b.N)/restoreTime.Seconds(), "rows/s")
	b.ReportMetric(manyUsers*float64(b.N)/scanTime.Seconds(), "scan-rows/s")
	b.ReportMetric(restoreTime.Seconds()/scanTime.Seconds(), "times-scan")
}

func scanAll(b *testing.B, s *Store) {
	b.Helper()
	rows, err := s.db.Reader.QueryContext(ctx, "SELECT channel_id, user_id, limit_name, data FROM state")
	must(b, err)
	defer rows.Close()
	for rows.Next() {
		var row state.Row
		must(b, rows.Scan(&row.ChannelID, &row.UserID, &row.Limit, &row.Data))
	}
	must(b, rows.Err())
}

// BenchmarkOpen opens and closes a database: a new one, a small one, and one with a million users.
func BenchmarkOpen(b *testing.B) {
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			must(b, open(b, databasePath(b), nil).Close())
		}
	})
	path := databasePath(b)
	b.Run("small", func(b *testing.B) {
		for b.Loop() {
			must(b, open(b, path, nil).Close())
		}
	})
	b.Run("million", func(b *testing.B) {
		s, _ := newCrowd(b, manyUsers)
		must(b, s.Close())
		for b.Loop() {
			must(b, open(b, s.db.Path, nil).Close())
		}
	})
}

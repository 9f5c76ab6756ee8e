package persist

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

// diskRows is the number of users and messages whose size is measured.
const diskRows = 100_000

// BenchmarkDiskUse measures how many bytes of the database a user, a message and a throttled
// message of a channel take. IDs, names and texts are as long as usual on Twitch. Each user writes
// once, so each user has one quarter of an hour.
func BenchmarkDiskUse(b *testing.B) {
	for b.Loop() {
		now := start
		s := open(b, databasePath(b), &Options{QueueSize: 2 * diskRows, TextRetention: DefaultTextRetention, Now: func() time.Time { return now }})
		g, err := chatguard.New(chatguard.DefaultPolicy(), &chatguard.Options{Now: s.opts.Now})
		must(b, err)
		s.RecordTexts(g.TextPrint)
		_, err = s.Restore(ctx, g)
		must(b, err)
		grown := func(write func()) float64 {
			before := s.used(b)
			write()
			s.mustFlush(b, g)
			return (s.used(b) - before) / diskRows
		}
		b.ReportMetric(grown(func() {
			for i := range diskRows {
				_, err := g.Check(ctx, diskMessage(i))
				must(b, err)
			}
		}), "state-bytes/user")
		message := grown(func() { s.observeAll(chatguard.Verdict{Allowed: true}) })
		b.ReportMetric(message, "bytes/message")
		now = start.Add(24 * time.Hour)
		people := grown(func() {
			for more := true; more; {
				more, err = s.sweeper.rollUp(ctx, now)
				must(b, err)
			}
		})
		quarter := -grown(func() {
			_, err := s.db.Writer.ExecContext(ctx, "DELETE FROM quarter_hour")
			must(b, err)
		})
		b.ReportMetric(quarter, "bytes/quarter")
		b.ReportMetric(people-quarter, "person-bytes/user")
		throttled := chatguard.Verdict{Limit: "burst", RetryAfter: 4 * time.Second, Penalty: chatguard.Penalty{Action: chatguard.ActionDelete}}
		b.ReportMetric(grown(func() { s.observeAll(throttled) })-message, "journal-bytes/throttled")
	}
}

// diskMessage returns the message of a user in the hours after start.
func diskMessage(i int) chatguard.Message {
	return chatguard.Message{
		ID: fmt.Sprintf("885196de-cb67-427a-baa8-%012d", i), ChannelID: "26490481", Text: strings.Repeat("a usual text ", 4),
		User:   chatguard.User{ID: userID(i), Login: fmt.Sprint("some_login", i), DisplayName: fmt.Sprint("Some_Login", i)},
		SentAt: start.Add(time.Duration(i) * 100 * time.Millisecond),
	}
}

// observeAll makes the store observe a message of each user with a verdict.
func (s *Store) observeAll(v chatguard.Verdict) {
	for i := range diskRows {
		m := diskMessage(i)
		v.At, v.ChannelID, v.UserID = m.SentAt, m.ChannelID, m.User.ID
		if !v.Allowed {
			v.EntryID = chatguard.EntryID(i + 1)
		}
		s.Observe(m, v)
	}
}

// used returns how many bytes of the database contain data.
func (s *Store) used(b *testing.B) (bytes float64) {
	b.Helper()
	must(b, s.db.Reader.QueryRowContext(ctx, `SELECT (page_count - freelist_count) * page_size
		FROM pragma_page_count, pragma_freelist_count, pragma_page_size`).Scan(&bytes))
	return bytes
}

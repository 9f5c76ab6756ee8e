package chatguard

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkCheck judges messages of one user, whose row is in the processor's cache. It shows the
// cost of a decision without memory access. bench/ compares it with other limiters for a million
// users.
func BenchmarkCheck(b *testing.B) {
	ctx := context.Background()
	for _, test := range []struct {
		name  string
		pace  time.Duration
		clock bool
	}{
		{"allowed", 4 * time.Second, false},
		{"throttled", time.Microsecond, false},
		{"clock", 0, true},
	} {
		b.Run(test.name, func(b *testing.B) {
			g := newEnforcingGuard(b, func(p *Policy) { p.Limits[1].Messages = 1 << 30 }, nil)
			m := messageFrom("1234567", 0)
			if test.clock {
				m.SentAt = time.Time{}
			}
			b.ReportAllocs()
			for b.Loop() {
				if !test.clock {
					m.SentAt = m.SentAt.Add(test.pace)
				}
				if _, err := g.Check(ctx, m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCheckAll judges 16 messages of nine users; an operation is one message.
func BenchmarkCheckAll(b *testing.B) {
	for _, test := range []struct {
		name string
		pace time.Duration
	}{{"allowed", 8 * time.Second}, {"throttled", time.Microsecond}} {
		b.Run(test.name, func(b *testing.B) {
			g := newEnforcingGuard(b, func(p *Policy) { p.Limits[1].Messages = 1 << 30 }, nil)
			messages, verdicts := make([]Message, 16), make([]Verdict, 16)
			for i := range messages {
				messages[i] = messageFrom(string(rune('1'+i%9))+"234567", 0)
			}
			b.ReportAllocs()
			for n := 0; n < b.N; n += len(messages) {
				for i := range messages {
					messages[i].SentAt = messages[i].SentAt.Add(test.pace)
				}
				if err := g.CheckAll(context.Background(), messages, verdicts); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// manyUsers is the number of users in the store.
const manyUsers = 1_000_000

// storedRows returns a daily window for each user, in a store's order and contiguous in memory.
func storedRows(b *testing.B, users int) []StateRow {
	g := newEnforcingGuard(b, func(p *Policy) { p.Limits = p.Limits[1:] }, nil)
	for i := range users {
		mustCheck(b, g, messageFrom(strconv.Itoa(20_000_000+37*i), float64(i)/1000))
	}
	rows := dirtyRows(g)
	slices.SortFunc(rows, func(a, b StateRow) int { return strings.Compare(a.UserID, b.UserID) })
	for i := range rows {
		rows[i].UserID, rows[i].Data = strings.Clone(rows[i].UserID), slices.Clone(rows[i].Data)
	}
	return rows
}

// BenchmarkRestore restores one row for each of a million users; an operation is one row.
func BenchmarkRestore(b *testing.B) {
	rows := storedRows(b, manyUsers)
	b.ReportAllocs()
	b.ResetTimer()
	var g *Guard
	for i := range b.N {
		if i%manyUsers == 0 {
			g = newEnforcingGuard(b, nil, nil)
		}
		if err := g.State().Restore(rows[i%manyUsers], monday.Add(time.Hour)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkForgotten checks one row for each of a million users; an operation is one row.
func BenchmarkForgotten(b *testing.B) {
	for name, limits := range map[string]func(*Policy){"limit": nil, "removed limit": func(p *Policy) { p.Limits = p.Limits[:1] }} {
		b.Run(name, func(b *testing.B) {
			rows := storedRows(b, manyUsers)
			g := newEnforcingGuard(b, limits, nil)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if _, err := g.State().Forgotten(rows[i%manyUsers], monday.AddDate(0, 0, 1)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkVerdictJSON encodes a throttled verdict, as returned to a chat server over HTTP.
func BenchmarkVerdictJSON(b *testing.B) {
	g := newEnforcingGuard(b, nil, nil)
	for range 3 {
		mustCheck(b, g, messageFrom("48215771", 0))
	}
	v, room := mustCheck(b, g, messageFrom("48215771", 0)), make([]byte, 0, 512)
	b.ReportAllocs()
	for b.Loop() {
		v.AppendJSON(room)
	}
}

package chatguard

import (
	"context"
	"testing"
	"time"
)

// BenchmarkCheck decides on messages of one user, whose row is in the processor's cache: what a decision costs without the memory. How that
// compares with other limiters, for a million users, is measured in bench/.
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
			g := enforced(b, func(p *Policy) { p.Limits[1].Messages = 1 << 30 }, nil)
			m := from("1234567", 0)
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

// BenchmarkCheckAll decides on 16 messages of nine users; an operation is one of them.
func BenchmarkCheckAll(b *testing.B) {
	for _, test := range []struct {
		name string
		pace time.Duration
	}{{"allowed", 8 * time.Second}, {"throttled", time.Microsecond}} {
		b.Run(test.name, func(b *testing.B) {
			g := enforced(b, func(p *Policy) { p.Limits[1].Messages = 1 << 30 }, nil)
			messages, verdicts := make([]Message, 16), make([]Verdict, 16)
			for i := range messages {
				messages[i] = from(string(rune('1'+i%9))+"234567", 0)
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

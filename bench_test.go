package chatguard

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/state"
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

// BenchmarkCheck_RepeatedText compares decisions by the default policy, and by the same policy with
// limits on repeated text per user and for everyone, about messages whose print is known. So it
// leaves out what internal/fingerprint's benchmarks measure.
func BenchmarkCheck_RepeatedText(b *testing.B) {
	for _, test := range []struct {
		name   string
		limits []Limit
	}{
		{"default", nil},
		{"with text", []Limit{repeats("again", PerUserText), repeats("copies", PerText)}},
	} {
		b.Run(test.name, func(b *testing.B) {
			g := newEnforcingGuard(b, func(p *Policy) {
				p.Limits[1].Messages = 1 << 30
				p.Limits = append(p.Limits, test.limits...)
			}, nil)
			m := messageFrom("1234567", 0)
			print := g.TextPrint(pasted)
			m.Print = &print
			b.ReportAllocs()
			for b.Loop() {
				m.SentAt = m.SentAt.Add(time.Minute)
				if _, err := g.Check(b.Context(), m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCheck_TextsOfMany is BenchmarkCheck_RepeatedText for a million users in random order, at
// 10,000 messages per second. A third of the messages have one of 1,000 texts, the others one of
// their author's four.
func BenchmarkCheck_TextsOfMany(b *testing.B) {
	for _, test := range []struct {
		name   string
		limits []Limit
	}{
		{"default", nil},
		{"with text", []Limit{repeats("again", PerUserText), repeats("copies", PerText)}},
	} {
		b.Run(test.name, func(b *testing.B) {
			g := newEnforcingGuard(b, func(p *Policy) {
				p.Limits[1].Messages = 1 << 30
				p.Limits = append(p.Limits, test.limits...)
			}, nil)
			ids, random := make([]string, manyUsers), rand.New(rand.NewPCG(1, 2))
			for i := range ids {
				ids[i] = decimalID(i)
			}
			m, print := messageFrom("", 0), TextPrint{exactLength: 30}
			m.Print = &print
			send := func(user uint64) {
				text := user<<2 | random.Uint64()&3
				if text%3 == 0 {
					text = text / 3 % 1000
				}
				binary.LittleEndian.PutUint64(print.exact[:], text*0x9E3779B97F4A7C15)
				binary.LittleEndian.PutUint64(print.exact[8:], text)
				m.User.ID, m.SentAt = ids[user], m.SentAt.Add(100*time.Microsecond)
				if _, err := g.Check(b.Context(), m); err != nil {
					b.Fatal(err)
				}
			}
			for user := range ids {
				send(uint64(user))
			}
			b.ReportAllocs()
			for b.Loop() {
				send(random.Uint64N(manyUsers))
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
func storedRows(b *testing.B, users int) []state.Row {
	g := newEnforcingGuard(b, func(p *Policy) { p.Limits = p.Limits[1:] }, nil)
	for i := range users {
		mustCheck(b, g, messageFrom(strconv.Itoa(20_000_000+37*i), float64(i)/1000))
	}
	rows := dirtyRows(g)
	slices.SortFunc(rows, func(a, b state.Row) int { return strings.Compare(a.UserID, b.UserID) })
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

// shapes are ways to have 100,000 users in rooms.
var shapes = []struct{ rooms, users int }{{1, 100_000}, {1000, 100}, {10_000, 10}}

// fillRooms returns a Guard with a row for each user of each room.
func fillRooms(b *testing.B, rooms, users int, id func(i int) string) *Guard {
	g := newEnforcingGuard(b, nil, nil)
	for room := range rooms {
		for user := range users {
			mustCheck(b, g, Message{ChannelID: strconv.Itoa(room), User: User{ID: id(user)}, SentAt: monday})
		}
	}
	return g
}

func decimalID(i int) string { return strconv.Itoa(20_000_000 + 37*i) }

func uuid(i int) string { return fmt.Sprintf("0190b6a2-7c3d-7e4f-8a5b-%012x", 37*i) }

// BenchmarkRooms measures the heap that small rooms take, with decimal IDs and with UUIDs.
func BenchmarkRooms(b *testing.B) {
	for name, id := range map[string]func(int) string{"decimal": decimalID, "uuid": uuid} {
		for _, shape := range []struct{ rooms, users int }{{10_000, 1}, {10_000, 10}, {1000, 100}, {100, 1000}} {
			b.Run(fmt.Sprintf("%s/%d", name, shape.users), func(b *testing.B) {
				for b.Loop() {
					before := heap()
					g := fillRooms(b, shape.rooms, shape.users, id)
					bytes := float64(heap() - before)
					b.ReportMetric(bytes/float64(shape.rooms), "B/room")
					b.ReportMetric(bytes/float64(shape.rooms*shape.users), "B/user")
					runtime.KeepAlive(g)
				}
			})
		}
	}
}

// BenchmarkAllRooms changes the policy of all rooms, and takes the changes of all rooms for a
// store. It reports how much longer both take for many rooms than for one room with as many users.
func BenchmarkAllRooms(b *testing.B) {
	guards := make([]*Guard, len(shapes))
	for i, shape := range shapes {
		guards[i] = fillRooms(b, shape.rooms, shape.users, decimalID)
	}
	policy := guards[0].Policy()
	var change, take [3]time.Duration
	for b.Loop() {
		policy.Limits[0].Refill += time.Second // converts every row
		for i, g := range guards {
			begin := time.Now()
			if err := g.at(monday).SetPolicy(policy); err != nil {
				b.Fatal(err)
			}
			changed := time.Now()
			confirmDirty(g)
			change[i] += changed.Sub(begin)
			take[i] += time.Since(changed)
		}
	}
	for i, shape := range shapes[1:] {
		b.ReportMetric(float64(change[i+1])/float64(change[0]), fmt.Sprintf("SetPolicy-%d/1", shape.rooms))
		b.ReportMetric(float64(take[i+1])/float64(take[0]), fmt.Sprintf("Dirty-%d/1", shape.rooms))
	}
	b.ReportMetric(float64(change[0].Microseconds())/float64(b.N), "µs/SetPolicy-of-1")
	b.ReportMetric(float64(take[0].Microseconds())/float64(b.N), "µs/Dirty-of-1")
}

// heap returns the number of bytes in use.
func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

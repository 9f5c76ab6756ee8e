package chatguard

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"time"
)

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
			if err := g.At(monday).SetPolicy(policy); err != nil {
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

package limits

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"pgregory.net/rapid"
)

func (w *world) drawStrikes() Strikes {
	return Strikes{Every: 10 * time.Second, Forget: 30 * time.Minute, Practice: rapid.IntRange(0, 4).Draw(w.rt, "practice") == 0}
}

// drawLimits draws one limit of the algorithm, and up to three others.
func drawLimits(rt *rapid.T, algorithm string) (limits []Limit) {
	for i := range rapid.IntRange(1, 4).Draw(rt, "limits") {
		l := Limit{Scope: rapid.SampledFrom([]Scope{PerUser, PerUser, PerUser, PerUserEverywhere, PerChannel, PerEverywhere}).Draw(rt, "scope")}
		l.Name, l.Algorithm = fmt.Sprintf("limit%d", i), algorithm
		if i > 0 {
			l.Algorithm = algorithms[rapid.IntRange(0, len(algorithms)-1).Draw(rt, "algorithm")].name
		}
		l.Observes = rapid.IntRange(0, 3).Draw(rt, "observes") == 0
		l.CountThrottled = rapid.IntRange(0, 3).Draw(rt, "count_throttled") == 0
		drawNumbers(rt, &l)
		l.Every = drawEvery(rt)
		drawEveryOf(rt, &l)
		limits = append(limits, l)
	}
	return limits
}

// lengths are durations. The oracle can try every instant of the shortest ones; the end of a day
// interrupts the longest ones.
var lengths = []int64{1, 2, 7, 1e9, 4e9, 61e9, 3600e9, 7 * 3600e9}

func drawEvery(rt *rapid.T) time.Duration {
	return time.Duration(rapid.SampledFrom(lengths).Draw(rt, "every"))
}

// drawEveryOf sets the duration that the limit's algorithm uses.
func drawEveryOf(rt *rapid.T, l *Limit) {
	switch l.Algorithm {
	case "token-bucket":
		l.Refill, l.Every = l.Every, 0
		for _, role := range slices.Sorted(maps.Keys(l.Roles)) {
			n := l.Roles[role]
			n.Refill = l.Refill * time.Duration(rapid.IntRange(0, 3).Draw(rt, "slower"))
			l.Roles[role] = n
		}
	case "cascade":
		l.Refill, l.Every = l.Every, 0
		l.ExtraRefill = drawEvery(rt)
		for _, role := range slices.Sorted(maps.Keys(l.Roles)) {
			n := l.Roles[role]
			n.Refill = l.Refill * time.Duration(rapid.IntRange(0, 3).Draw(rt, "slower"))
			n.ExtraRefill = l.ExtraRefill * time.Duration(rapid.IntRange(0, 3).Draw(rt, "extra slower"))
			l.Roles[role] = n
		}
	case "sliding-window":
		l.Slices = rapid.SampledFrom([]int64{0, 2, 3, 5, 7, 60}).Draw(rt, "slices")
		if l.Slices > 0 && int64(l.Every)%l.Slices != 0 {
			l.Slices = 1
		}
	case "daily-window":
		l.Every = 0
		l.Timezone = rapid.SampledFrom([]string{"Europe/Berlin", "UTC", "America/Lima", "Pacific/Apia"}).Draw(rt, "zone")
		l.ResetAt = rapid.SampledFrom([]string{"", "02:30", "18:00"}).Draw(rt, "reset_at")
		l.Period = rapid.SampledFrom([]string{"", "", "week", "month"}).Draw(rt, "period")
		if l.FirstDay = ""; l.Period == "week" {
			l.FirstDay = rapid.SampledFrom([]string{"", "sunday", "thursday"}).Draw(rt, "first_day")
		}
	}
}

// drawNumbers sets the limit's numbers, and others for some roles.
func drawNumbers(rt *rapid.T, l *Limit) {
	capacity := func() int64 { return int64(rapid.IntRange(1, 6).Draw(rt, "capacity")) }
	l.Roles = map[string]Numbers{}
	for _, role := range []string{"subscriber", "vip"} {
		if rapid.IntRange(0, 2).Draw(rt, "override") > 0 {
			continue
		}
		switch l.Algorithm {
		case "token-bucket":
			l.Roles[role] = Numbers{Burst: capacity()}
		case "cascade":
			l.Roles[role] = Numbers{Burst: capacity(), ExtraBurst: int64(rapid.IntRange(0, 6).Draw(rt, "extra"))}
		case "leaky-bucket":
			l.Roles[role] = Numbers{Queue: capacity()}
		default:
			l.Roles[role] = Numbers{Messages: capacity() + 1}
		}
	}
	switch l.Algorithm {
	case "token-bucket":
		l.Burst = capacity()
	case "leaky-bucket":
		l.Queue = capacity() - 1
	case "daily-window":
		l.Messages = capacity() + 1 // one message a day can't be divided
	case "cascade":
		l.Burst, l.ExtraBurst = capacity(), capacity()
	default:
		l.Messages = capacity()
	}
	drawReserve(rt, l)
}

// drawReserve sets a reserve that the limit can keep for every role.
func drawReserve(rt *rapid.T, l *Limit) {
	l.Reserve = 0
	if l.Algorithm == "cascade" {
		return
	}
	least := l.numbersFor(Roles{}).capacity
	for role := range l.Roles {
		least = min(least, l.numbersFor(rolesOf(role)).capacity)
	}
	l.Reserve = min(least-1, int64(rapid.IntRange(0, 3).Draw(rt, "reserve")))
}

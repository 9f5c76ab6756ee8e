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
		l := Limit{Params: Params{Name: fmt.Sprintf("limit%d", i), Algorithm: algorithm}}
		if i > 0 {
			l.Algorithm = algorithms[rapid.IntRange(0, len(algorithms)-1).Draw(rt, "algorithm")].name
		}
		scopes := []Scope{PerUser, PerUser, PerUser, PerUserEverywhere, PerChannel, PerEverywhere, PerUserText, PerText, PerUserText, PerText}
		if l.Algorithm == "leaky-bucket" { // a repeated text can't wait
			scopes = scopes[:6]
		}
		l.Scope = rapid.SampledFrom(scopes).Draw(rt, "scope")
		l.Observes = rapid.IntRange(0, 3).Draw(rt, "observes") == 0
		l.CountThrottled = rapid.IntRange(0, 3).Draw(rt, "count_throttled") == 0
		drawNumbers(rt, &l)
		l.Every = drawEvery(rt)
		drawEveryOf(rt, &l)
		drawSameText(rt, &l)
		limits = append(limits, l)
	}
	return limits
}

// plainTexts are the texts of messages. Some are similar, and some are short.
var plainTexts = []plainText{
	{exact: 1, similar: 1, exactLength: 9, similarLength: 7}, {exact: 2, similar: 1, exactLength: 5, similarLength: 7},
	{exact: 3, similar: 3, exactLength: 3, similarLength: 2}, {exact: 4, similar: 4, exactLength: 8, similarLength: 8, emotes: true}, {},
}

func drawText(rt *rapid.T) plainText {
	return rapid.SampledFrom(append([]plainText{plainTexts[0]}, plainTexts...)).Draw(rt, "text")
}

// drawSameText draws which messages count together in a limit on repeated text. There are at most
// four limits, so at most MaxTexts SameTexts.
func drawSameText(rt *rapid.T, l *Limit) {
	if l.Strikes = false; !l.Scope.IsText() {
		return
	}
	l.Text = SameText{Similar: rapid.Bool().Draw(rt, "similar"), Emotes: rapid.Bool().Draw(rt, "count_emotes"), FromLength: rapid.SampledFrom([]int{1, 3, 8}).Draw(rt, "from_length")}
	l.Strikes = l.Scope == PerText && rapid.Bool().Draw(rt, "strikes")
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

package live

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// Rates describes how busy a channel is. The figures per second are means over the last 5 s.
type Rates struct {
	MessagesPerSecond  float64 `json:"messages_per_second"`
	ThrottledPerSecond float64 `json:"throttled_per_second"`
	// ObservedPerSecond counts the throttled messages that were only observed, and were therefore
	// allowed.
	ObservedPerSecond   float64 `json:"observed_per_second"`
	MessagesLastMinute  uint64  `json:"messages_last_minute"`
	ThrottledLastMinute uint64  `json:"throttled_last_minute"`
	// ObservedLastMinute is like ObservedPerSecond, for the last minute.
	ObservedLastMinute uint64 `json:"observed_last_minute"`
}

// tally counts the verdicts of one channel. Counting uses only the counters; the other fields are
// used by tick and rates.
type tally struct {
	messages, throttled, observed metrics.Counter // throttled includes those only observed
	low                           metrics.Counter // allowed at low priority

	suspects           suspects
	suspicious, people atomic.Uint64 // messages of suspects, and how often a user became one

	// seconds contains the values of the counters at the end of each of the last 60 seconds, and
	// one earlier value.
	seconds [61]count
	ticks   int // number of calls of tick
	history history

	recent recentMinutes // counts that tick hasn't added to the history yet
	raid   raidWatch
}

type count struct{ messages, throttled, observed, low, suspicious, people uint64 }

// tallies are the tallies of all channels.
type tallies struct {
	set      *metrics.Set
	current  atomic.Pointer[map[string]*tally] // never modified, only replaced
	outcomes sync.Map                          // *metrics.Counter by acted

	// mu is held to replace current. It also guards the seconds, ticks, histories and calendars.
	mu        sync.Mutex
	calendars [len(rings)]*calendar
	minute    atomic.Int64 // the current minute; written under mu
}

// maxTallies is the maximum number of channels that are counted individually. All others are
// counted together as channel "".
const maxTallies = 1000

// newTallies returns tallies that count from now on.
func newTallies(set *metrics.Set, now time.Time) *tallies {
	t := &tallies{set: set}
	for i, r := range rings {
		t.calendars[i] = newCalendar(r, now)
	}
	t.minute.Store(t.calendars[minutes].now)
	t.current.Store(&map[string]*tally{})
	return t
}

// count counts one verdict. isFirst is whether the user wrote in the channel for the first time.
func (t *tallies) count(v *chatguard.Verdict, isFirst bool) {
	counted := t.tally(v.ChannelID)
	minute := counted.recent.minute(v.At, t.minute.Load())
	counted.messages.Inc()
	minute.messages.Add(1)
	if v.Throttled() {
		counted.throttled.Inc()
		minute.throttled.Add(1)
	}
	if v.Observed {
		counted.observed.Inc()
		minute.observed.Add(1)
	}
	if isLow(v) {
		counted.low.Inc()
		minute.low.Add(1)
	}
	isSuspect, isNew := counted.suspects.note(v.UserID, isFirst || v.Throttled())
	if isSuspect {
		counted.suspicious.Add(1)
	}
	if isNew {
		counted.people.Add(1)
	}
}

// isLow reports whether a message passed at low priority.
func isLow(v *chatguard.Verdict) bool { return v.Priority == chatguard.PriorityLow && !v.Throttled() }

// tally returns the channel's tally, and creates it if there is none.
func (t *tallies) tally(channel string) *tally {
	if known := (*t.current.Load())[channel]; known != nil {
		return known
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	current := *t.current.Load()
	if len(current) >= maxTallies {
		channel = ""
	}
	if known := current[channel]; known != nil {
		return known
	}
	// the ID may be part of a larger string
	next, channel := maps.Clone(current), strings.Clone(channel)
	next[channel] = &tally{history: newHistory()}
	t.current.Store(&next)
	return next[channel]
}

// channels returns the channels counted by name, in sorted order.
func (t *tallies) channels() []string {
	all := slices.Sorted(maps.Keys(*t.current.Load()))
	return slices.DeleteFunc(all, func(id string) bool { return id == "" })
}

// outcomeKey is the key of the outcome counters.
type outcomeKey struct {
	action chatguard.Action
	result journal.Result
}

// countOutcome counts the outcome of the action on a message.
func (t *tallies) countOutcome(o journal.Outcome) {
	kind := outcomeKey{o.Action, o.Result}
	counter, known := t.outcomes.Load(kind)
	if !known {
		counter = t.set.GetOrCreateCounter(fmt.Sprintf("chatguard_outcomes_total{action=%q,result=%q}", journal.Action(o.Action), o.Result))
		t.outcomes.Store(kind, counter)
	}
	counter.(*metrics.Counter).Inc()
}

// tick ends a second. It adds the second's counts to the fine step in which the second began, and
// the counts of recent minutes to their minutes.
func (t *tallies) tick(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	current := *t.current.Load()
	for _, c := range current {
		c.ticks++
		c.seconds[c.ticks%len(c.seconds)] = c.soFar()
		if c.ticks%60 == 0 {
			c.suspects.age()
		}
		step := &c.history[fine][t.calendars[fine].place(t.calendars[fine].now)]
		*step = step.add(c.lastSeconds(1).compact())
		c.addRecent(t.calendars[minutes], now)
	}
	for i, calendar := range t.calendars {
		calendar.advance(now, func(place int) {
			for _, c := range current {
				c.history[i][place] = stepCounts{}
			}
		})
	}
	t.minute.Store(t.calendars[minutes].now)
}

// meanOver is the period of the means per second.
const meanOver = 5 * time.Second

// rates returns how busy a channel is. An empty channel means all channels.
func (t *tallies) rates(channel string) Rates {
	t.mu.Lock()
	defer t.mu.Unlock()
	var mean, minute count
	for name, c := range *t.current.Load() {
		if channel == "" || name == channel {
			mean = mean.add(c.lastSeconds(int(meanOver / time.Second)))
			minute = minute.add(c.lastSeconds(len(c.seconds) - 1))
		}
	}
	return Rates{
		MessagesPerSecond:   float64(mean.messages) / meanOver.Seconds(),
		ThrottledPerSecond:  float64(mean.throttled) / meanOver.Seconds(),
		ObservedPerSecond:   float64(mean.observed) / meanOver.Seconds(),
		MessagesLastMinute:  minute.messages,
		ThrottledLastMinute: minute.throttled,
		ObservedLastMinute:  minute.observed,
	}
}

// busyOver is the period over which the rate that starts raid mode is measured.
const busyOver = 10 * time.Second

// busy returns the messages per second of each channel over busyOver.
func (t *tallies) busy() map[string]float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	rates := map[string]float64{}
	for name, c := range *t.current.Load() {
		rates[name] = float64(c.lastSeconds(int(busyOver/time.Second)).messages) / busyOver.Seconds()
	}
	return rates
}

// soFar returns the counts since the start.
func (t *tally) soFar() count {
	return count{t.messages.Get(), t.throttled.Get(), t.observed.Get(), t.low.Get(), t.suspicious.Load(), t.people.Load()}
}

// lastSeconds returns the counts of the last completed seconds; seconds is their number.
func (t *tally) lastSeconds(seconds int) count {
	end, start := t.seconds[t.ticks%len(t.seconds)], count{}
	if t.ticks > seconds {
		start = t.seconds[(t.ticks-seconds)%len(t.seconds)]
	}
	return count{
		end.messages - start.messages, end.throttled - start.throttled, end.observed - start.observed, end.low - start.low,
		end.suspicious - start.suspicious, end.people - start.people,
	}
}

func (c count) add(d count) count {
	return count{
		c.messages + d.messages, c.throttled + d.throttled, c.observed + d.observed, c.low + d.low,
		c.suspicious + d.suspicious, c.people + d.people,
	}
}

// compact converts a count to stepCounts. The count must be of a short time, so that it fits.
func (c count) compact() stepCounts {
	return stepCounts{uint32(c.messages), uint32(c.throttled), uint32(c.observed), uint32(c.low)}
}

package web

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

// Rates say how busy a channel is. The figures per second are means over the last 5 s.
type Rates struct {
	MessagesPerSecond   float64 `json:"messages_per_second"`
	ThrottledPerSecond  float64 `json:"throttled_per_second"`
	ObservedPerSecond   float64 `json:"observed_per_second"` // of those that were throttled: only observed, and allowed
	MessagesLastMinute  uint64  `json:"messages_last_minute"`
	ThrottledLastMinute uint64  `json:"throttled_last_minute"`
	ObservedLastMinute  uint64  `json:"observed_last_minute"` // likewise
}

// tally counts the verdicts of one channel. Whoever counts touches the counters only; the rest belongs to tick and rates.
type tally struct {
	messages, throttled, observed *metrics.Counter // throttled counts those that were only observed, too

	seconds [61]count // what the counters said at each of the last 60 seconds' ends, and before them
	ticks   int       // how often tick was called
	history history
}

type count struct{ messages, throttled, observed uint64 }

// tallies are those of all channels.
type tallies struct {
	set      *metrics.Set
	current  atomic.Pointer[map[string]*tally] // never changed, only replaced
	outcomes sync.Map                          // *metrics.Counter by acted

	mu        sync.Mutex // held to replace current, and over seconds, ticks, histories and calendars
	calendars [len(spans)]*calendar
}

// maxTallies bounds the channels counted by name. The others are counted together, as channel "".
const maxTallies = 1000

// newTallies returns tallies that count from now on.
func newTallies(set *metrics.Set, now time.Time) *tallies {
	t := &tallies{set: set}
	for i, s := range spans {
		t.calendars[i] = newCalendar(s, now)
	}
	t.current.Store(&map[string]*tally{})
	return t
}

// count counts one verdict.
func (t *tallies) count(v *chatguard.Verdict) {
	counted := t.of(v.ChannelID)
	counted.messages.Inc()
	if v.Throttled() {
		counted.throttled.Inc()
	}
	if v.Observed {
		counted.observed.Inc()
	}
}

// of returns the channel's tally, a new one where there is none.
func (t *tallies) of(channel string) *tally {
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
	next, channel := maps.Clone(current), strings.Clone(channel) // a part of a whole line of chat
	labels := "{channel=" + label(channel) + "}"
	next[channel] = &tally{
		messages:  t.set.GetOrCreateCounter("chatguard_messages_total" + labels),
		throttled: t.set.GetOrCreateCounter("chatguard_throttled_messages_total" + labels),
		observed:  t.set.GetOrCreateCounter("chatguard_observed_messages_total" + labels),
		history:   newHistory(),
	}
	t.current.Store(&next)
	return next[channel]
}

// label is a value as the exposition format quotes it, which knows fewer escapes than Go does, and takes valid texts only.
func label(value string) string {
	return `"` + labelEscapes.Replace(strings.ToValidUTF8(value, "\uFFFD")) + `"`
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// channels are those counted by name, in order.
func (t *tallies) channels() []string {
	all := slices.Sorted(maps.Keys(*t.current.Load()))
	return slices.DeleteFunc(all, func(id string) bool { return id == "" })
}

// acted is what outcomes are counted by.
type acted struct {
	action chatguard.Action
	result journal.Result
}

// outcome counts how acting on a message went.
func (t *tallies) outcome(o journal.Outcome) {
	kind := acted{o.Action, o.Result}
	counter, known := t.outcomes.Load(kind)
	if !known {
		counter = t.set.GetOrCreateCounter(fmt.Sprintf("chatguard_outcomes_total{action=%q,result=%q}", o.Action, o.Result))
		t.outcomes.Store(kind, counter)
	}
	counter.(*metrics.Counter).Inc()
}

// tick ends a second. It counts in the steps in which it began.
func (t *tallies) tick(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	current := *t.current.Load()
	for _, c := range current {
		c.ticks++
		c.seconds[c.ticks%len(c.seconds)] = count{c.messages.Get(), c.throttled.Get(), c.observed.Get()}
		for i, calendar := range t.calendars {
			step := &c.history[i][calendar.place(calendar.now)]
			*step = step.plus(c.since(1).small())
		}
	}
	for i, calendar := range t.calendars {
		calendar.advance(now, func(place int) {
			for _, c := range current {
				c.history[i][place] = counted{}
			}
		})
	}
}

// meanOver is what the figures per second are the mean of.
const meanOver = 5 * time.Second

// rates returns how busy a channel is; the empty channel stands for all of them.
func (t *tallies) rates(channel string) Rates {
	t.mu.Lock()
	defer t.mu.Unlock()
	var mean, minute count
	for name, c := range *t.current.Load() {
		if channel == "" || name == channel {
			mean = mean.plus(c.since(int(meanOver / time.Second)))
			minute = minute.plus(c.since(len(c.seconds) - 1))
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

// since returns what was counted in the last seconds that have ended.
func (c *tally) since(seconds int) count {
	end, start := c.seconds[c.ticks%len(c.seconds)], count{}
	if c.ticks > seconds {
		start = c.seconds[(c.ticks-seconds)%len(c.seconds)]
	}
	return count{end.messages - start.messages, end.throttled - start.throttled, end.observed - start.observed}
}

func (c count) plus(d count) count {
	return count{c.messages + d.messages, c.throttled + d.throttled, c.observed + d.observed}
}

// small is what was counted in seconds or minutes.
func (c count) small() counted {
	return counted{uint32(c.messages), uint32(c.throttled), uint32(c.observed)}
}

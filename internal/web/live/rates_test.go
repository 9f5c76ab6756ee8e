package live

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// tallyClock runs tallies over verdicts at the test's times.
type tallyClock struct {
	*testing.T
	*tallies
	now time.Time
}

func newTallyClock(t *testing.T, now time.Time) *tallyClock {
	return &tallyClock{t, newTallies(metrics.NewSet(), now), now}
}

// countSecond counts messages of a channel and ends a second. Some of the messages are throttled,
// and some of the throttled ones are only observed.
func (c *tallyClock) countSecond(channel string, messages, throttled, observed int) {
	for i := range messages {
		c.count(&chatguard.Verdict{At: c.now, ChannelID: channel, Allowed: i >= throttled || i < observed, Observed: i < observed}, false)
	}
	c.advance(time.Second)
}

func (c *tallyClock) advance(length time.Duration) {
	c.now = c.now.Add(length)
	c.tick(c.now)
}

// wantRates fails the test unless a channel's last steps are as wanted.
func (c *tallyClock) wantRates(span, channel, want string) {
	c.Helper()
	rates := c.ratesOver(periods[span], channel)
	n := len(strings.Split(want, " "))
	var got []string
	for i := len(rates.Messages) - n; i < len(rates.Messages); i++ {
		if rates.Messages[i] == nil {
			got = append(got, "-")
			continue
		}
		got = append(got, fmt.Sprintf("%d/%d/%d", *rates.Messages[i], *rates.Throttled[i], *rates.Observed[i]))
	}
	if got := strings.Join(got, " "); got != want {
		c.Errorf("%s, channel %q: %s, want %s", span, channel, got, want)
	}
}

func TestBusy_MeanOfTenSeconds(t *testing.T) {
	c := newTallyClock(t, noon)
	for range 12 {
		c.countSecond("7", 4, 2, 1)
	}
	for range 5 {
		c.countSecond("8", 1, 0, 0)
	}
	if got := c.busy(); len(got) != 2 || got["7"] != 2 || got["8"] != 0.5 {
		t.Errorf("messages per second %v", got)
	}
}

func TestRates_EachStep(t *testing.T) {
	c := newTallyClock(t, noon.Add(3*time.Second))
	c.countSecond("7", 9, 9, 9) // the first step began before the start
	c.countSecond("7", 0, 0, 0)
	for range 5 {
		c.countSecond("7", 4, 2, 1)
	}
	c.wantRates("hour", "7", "- 9/9/9 20/10/5")
	c.countSecond("8", 1, 0, 0)
	c.wantRates("hour", "7", "- 9/9/9 20/10/5") // the last completed step
	for range 4 {
		c.countSecond("8", 1, 0, 0)
	}
	c.wantRates("hour", "7", "9/9/9 20/10/5 0/0/0")
	c.wantRates("hour", "8", "0/0/0 0/0/0 5/0/0")
	c.wantRates("hour", "9", "0/0/0 0/0/0 0/0/0")
	c.wantRates("hour", "", "9/9/9 20/10/5 5/0/0")
	c.wantRates("day", "", "-")
	for c.now.Before(noon.Add(2 * time.Minute)) {
		c.countSecond("7", 1, 1, 0)
	}
	c.wantRates("day", "", "79/64/14 60/60/0")
	if rates := c.ratesOver(periods["day"], ""); !rates.From.Equal(noon.Add(2*time.Minute-24*time.Hour)) || rates.StepSeconds != 60 || len(rates.Messages) != 1440 {
		t.Errorf("%d steps of %d s from %s", len(rates.Messages), rates.StepSeconds, rates.From)
	}
}

func TestRates_ForgetOldSteps(t *testing.T) {
	c := newTallyClock(t, noon)
	for range 2 * 3600 {
		c.countSecond("7", 1, 0, 0)
	}
	for _, n := range c.ratesOver(periods["hour"], "7").Messages {
		if n == nil || *n != 5 {
			t.Fatalf("in a step of 5 s: %v", n)
		}
	}
}

func TestRates_UncountedIsUnknown(t *testing.T) {
	c := newTallyClock(t, noon)
	c.advance(5 * time.Second)
	c.countSecond("7", 3, 0, 0)
	c.advance(14 * time.Second) // the machine was asleep
	c.advance(5 * time.Second)
	c.wantRates("hour", "7", "0/0/0 3/0/0 - - -") // it woke up in the last step
	c.advance(5 * time.Second)
	c.wantRates("hour", "7", "3/0/0 - - - 0/0/0")
	c.advance(48 * time.Hour)
	c.wantRates("hour", "7", "- - - - -")
	c.wantRates("day", "7", "- - - - -")
}

func TestRates_ClockSetBack(t *testing.T) {
	c := newTallyClock(t, noon)
	for range 20 {
		c.countSecond("7", 1, 0, 0)
	}
	c.wantRates("hour", "7", "5/0/0 5/0/0 5/0/0 5/0/0")
	c.advance(-7 * time.Second)
	for range 12 {
		c.countSecond("7", 2, 0, 0)
	}
	c.wantRates("hour", "7", "5/0/0 5/0/0 9/0/0 10/0/0 10/0/0") // 3 of the third step were counted earlier
	c.advance(-20 * time.Hour)
	c.advance(time.Second)
	c.wantRates("hour", "7", "- - - -")
}

func TestRates_BeforeStart(t *testing.T) {
	c := newTallyClock(t, noon.Add(30*time.Second))
	minute := func(ago int, channel string, messages, throttled, observed uint32) {
		at := noon.Add(-time.Duration(ago) * time.Minute)
		c.remember(journal.Minute{ChannelID: channel, At: at, Messages: messages, Throttled: throttled, Observed: observed})
	}
	minute(1440, "7", 99, 99, 99) // just outside the last day
	minute(4, "7", 10, 4, 1)
	minute(2, "7", 12, 0, 0)
	minute(2, "8", 24, 0, 0)
	minute(0, "7", 5, 0, 0) // the part of the minute that was before the start
	c.wantRates("day", "7", "0/0/0 10/4/1 0/0/0 12/0/0 0/0/0")
	c.wantRates("day", "", "0/0/0 10/4/1 0/0/0 36/0/0 0/0/0")
	c.wantRates("hour", "7", "1/0/0 1/0/0"+strings.Repeat(" 0/0/0", 13)+strings.Repeat(" 1/0/0", 5))
	sum := uint32(0)
	for _, n := range c.ratesOver(periods["hour"], "7").Throttled {
		if n != nil {
			sum += *n
		}
	}
	if sum != 4 {
		t.Errorf("the throttled messages of a minute are %d in steps of 5 s", sum)
	}
	c.advance(90 * time.Second)
	c.wantRates("day", "7", "10/4/1 0/0/0 12/0/0 0/0/0 5/0/0 -")
	if first := c.ratesOver(periods["day"], "7").Messages[0]; first == nil || *first != 0 {
		t.Error("a day ago isn't known")
	}
}

// TestRates_Low checks that messages that pass at low priority are counted, and throttled ones of
// low priority aren't.
func TestRates_Low(t *testing.T) {
	c := newTallyClock(t, noon)
	for _, v := range []chatguard.Verdict{{Allowed: true}, {Allowed: true, Priority: chatguard.PriorityLow}, {Priority: chatguard.PriorityLow}, {Allowed: true, Observed: true, Priority: chatguard.PriorityLow}} {
		v.At, v.ChannelID = noon, "7"
		c.count(&v, false)
	}
	c.remember(journal.Minute{ChannelID: "7", At: noon.Add(-time.Minute), Messages: 9, Low: 3})
	c.advance(time.Minute)
	low := c.ratesOver(periods["day"], "7").Low
	if n := len(low); *low[n-2] != 3 || *low[n-1] != 1 {
		t.Errorf("low messages of the last minutes: %d, %d, want 3, 1", *low[n-2], *low[n-1])
	}
	var text strings.Builder
	c.write(&text, map[string]string{"7": "room"})
	if want := "chatguard_low_priority_messages_total{channel=\"room\",channel_id=\"7\"} 1\n"; !strings.Contains(text.String(), want) {
		t.Errorf("metrics: %s, want %s", text.String(), want)
	}
}

func TestRates_BeginWithStore(t *testing.T) {
	c := newTallyClock(t, noon)
	c.remember(journal.Minute{ChannelID: "7", At: noon.Add(-3 * time.Minute), Messages: 1})
	c.wantRates("day", "7", "- - 1/0/0 0/0/0 0/0/0")
}

// TestRates_Peak checks that the busiest minute is the same in each span, and the same after a
// restart.
func TestRates_Peak(t *testing.T) {
	c := newTallyClock(t, noon.Add(50*time.Second))
	for second := range 250 { // the third minute is the busiest; most of it comes within a second
		n := 1
		if second == 100 {
			n = 300
		}
		c.countSecond("7", n, 0, 0)
	}
	want := Peak{At: noon.Add(2 * time.Minute), Messages: 359}
	for name, p := range periods {
		if peak := c.ratesOver(p, "7").Peak; peak == nil || *peak != want {
			t.Errorf("%s: %+v, want %+v", name, peak, want)
		}
	}
	if peak := c.ratesOver(periods["hour"], "8").Peak; peak != nil {
		t.Errorf("without messages: %+v", peak)
	}
	again := newTallyClock(t, c.now)
	for i, n := range []uint32{10, 60, 359, 60, 60} {
		again.remember(journal.Minute{ChannelID: "7", At: noon.Add(time.Duration(i) * time.Minute), Messages: n})
	}
	again.advance(time.Second)
	for name, p := range periods {
		if peak := again.ratesOver(p, "7").Peak; peak == nil || *peak != want {
			t.Errorf("after a restart, %s: %+v, want %+v", name, peak, want)
		}
	}
}

// TestRates_MinutesByMessageTime checks that a message counts in the minute in which it was
// written, as in the store.
func TestRates_MinutesByMessageTime(t *testing.T) {
	c := newTallyClock(t, noon)
	say := func(at time.Time) { c.count(&chatguard.Verdict{At: at, ChannelID: "7", Allowed: true}, false) }
	c.advance(time.Minute)
	say(noon.Add(59 * time.Second)) // late
	say(noon.Add(-time.Hour))       // too late to be counted there
	say(noon.Add(time.Minute))
	say(noon.Add(2*time.Minute + time.Second)) // early
	c.advance(time.Second)
	c.wantRates("day", "7", "2/0/0")
	c.advance(59 * time.Second)
	c.wantRates("day", "7", "2/0/0 1/0/0")
	c.advance(time.Minute)
	c.wantRates("day", "7", "2/0/0 1/0/0 1/0/0")
	say(noon.Add(4 * time.Minute)) // early
	c.advance(-time.Hour)          // the clock is set
	for range 6 {
		c.advance(time.Minute)
	}
	c.wantRates("day", "7", "- 0/0/0 0/0/0 0/0/0 0/0/0 0/0/0")
}

// TestRates_Stream checks how far back the rates of a running stream reach, and in which steps.
func TestRates_Stream(t *testing.T) {
	c := newTallyClock(t, noon)
	for ago, want := range map[time.Duration]struct{ step, n int }{
		0: {5, 1}, time.Minute: {5, 12}, time.Hour: {5, 720}, 61 * time.Minute: {60, 61}, 24 * time.Hour: {60, 1440}, 48 * time.Hour: {60, 1440},
	} {
		if rates := c.ratesOver(c.since(noon.Add(-ago)), ""); rates.StepSeconds != want.step || len(rates.Messages) != want.n {
			t.Errorf("%v: %d steps of %d s, want %+v", ago, len(rates.Messages), rates.StepSeconds, want)
		}
	}
}

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

const hour, day = 0, 1 // indexes in spans

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
		c.count(&chatguard.Verdict{ChannelID: channel, Allowed: i >= throttled || i < observed, Observed: i < observed})
	}
	c.advance(time.Second)
}

func (c *tallyClock) advance(length time.Duration) {
	c.now = c.now.Add(length)
	c.tick(c.now)
}

// wantRates fails the test unless a channel's last steps are as wanted.
func (c *tallyClock) wantRates(span int, channel, want string) {
	c.Helper()
	rates := c.ratesOver(span, channel)
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
		c.Errorf("%s, channel %q: %s, want %s", spans[span].name, channel, got, want)
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
	c.countSecond("7", 9, 9, 9) // the first step is only partly known
	c.countSecond("7", 0, 0, 0)
	for range 5 {
		c.countSecond("7", 4, 2, 1)
	}
	c.wantRates(hour, "7", "- - 20/10/5")
	c.countSecond("8", 1, 0, 0)
	c.wantRates(hour, "7", "- - 20/10/5") // the last completed step
	for range 4 {
		c.countSecond("8", 1, 0, 0)
	}
	c.wantRates(hour, "7", "- 20/10/5 0/0/0")
	c.wantRates(hour, "8", "- 0/0/0 5/0/0")
	c.wantRates(hour, "9", "- 0/0/0 0/0/0")
	c.wantRates(hour, "", "- 20/10/5 5/0/0")
	c.wantRates(day, "", "-")
	for c.now.Before(noon.Add(2 * time.Minute)) {
		c.countSecond("7", 1, 1, 0)
	}
	c.wantRates(day, "", "- 60/60/0")
	if rates := c.ratesOver(day, ""); !rates.From.Equal(noon.Add(2*time.Minute-24*time.Hour)) || rates.StepSeconds != 60 || len(rates.Messages) != 1440 {
		t.Errorf("%d steps of %d s from %s", len(rates.Messages), rates.StepSeconds, rates.From)
	}
}

func TestRates_ForgetOldSteps(t *testing.T) {
	c := newTallyClock(t, noon)
	for range 2 * 3600 {
		c.countSecond("7", 1, 0, 0)
	}
	for _, n := range c.ratesOver(hour, "7").Messages {
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
	c.wantRates(hour, "7", "- 3/0/0 - - -") // it woke up in the last step
	c.advance(5 * time.Second)
	c.wantRates(hour, "7", "3/0/0 - - - 0/0/0")
	c.advance(48 * time.Hour)
	c.wantRates(hour, "7", "- - - - -")
	c.wantRates(day, "7", "- - - - -")
}

func TestRates_ClockSetBack(t *testing.T) {
	c := newTallyClock(t, noon)
	for range 20 {
		c.countSecond("7", 1, 0, 0)
	}
	c.wantRates(hour, "7", "- 5/0/0 5/0/0 5/0/0")
	c.advance(-7 * time.Second)
	for range 12 {
		c.countSecond("7", 2, 0, 0)
	}
	c.wantRates(hour, "7", "- 5/0/0 9/0/0 10/0/0 10/0/0") // 3 of the third step were counted earlier
	c.advance(-20 * time.Hour)
	c.advance(time.Second)
	c.wantRates(hour, "7", "- - - -")
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
	minute(0, "7", 5, 0, 0) // the minute of the start is only in part here
	c.wantRates(day, "7", "0/0/0 10/4/1 0/0/0 12/0/0 0/0/0")
	c.wantRates(day, "", "0/0/0 10/4/1 0/0/0 36/0/0 0/0/0")
	c.wantRates(hour, "7", "1/0/0 1/0/0"+strings.Repeat(" 0/0/0", 12)+strings.Repeat(" -", 6))
	sum := uint32(0)
	for _, n := range c.ratesOver(hour, "7").Throttled {
		if n != nil {
			sum += *n
		}
	}
	if sum != 4 {
		t.Errorf("the throttled messages of a minute are %d in steps of 5 s", sum)
	}
	c.advance(90 * time.Second)
	c.wantRates(day, "7", "10/4/1 0/0/0 12/0/0 0/0/0 - -")
	if first := c.ratesOver(day, "7").Messages[0]; first == nil || *first != 0 {
		t.Error("a day ago isn't known")
	}
}

func TestRates_BeginWithStore(t *testing.T) {
	c := newTallyClock(t, noon)
	c.remember(journal.Minute{ChannelID: "7", At: noon.Add(-3 * time.Minute), Messages: 1})
	c.wantRates(day, "7", "- - 1/0/0 0/0/0 0/0/0")
}

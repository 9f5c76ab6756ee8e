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

// counting runs tallies over verdicts at the test's times.
type counting struct {
	*testing.T
	*tallies
	now time.Time
}

func newCounting(t *testing.T, now time.Time) *counting {
	return &counting{t, newTallies(metrics.NewSet(), now), now}
}

// second counts messages of a channel and ends a second. Some of the messages are throttled, and
// some of the throttled ones are only observed.
func (c *counting) second(channel string, messages, throttled, observed int) {
	for i := range messages {
		c.count(&chatguard.Verdict{ChannelID: channel, Allowed: i >= throttled || i < observed, Observed: i < observed})
	}
	c.pass(time.Second)
}

func (c *counting) pass(length time.Duration) {
	c.now = c.now.Add(length)
	c.tick(c.now)
}

// tells checks that a channel's last steps are reported as wanted.
func (c *counting) tells(span int, channel, want string) {
	c.Helper()
	told := c.ratesOver(span, channel)
	n := len(strings.Split(want, " "))
	var got []string
	for i := len(told.Messages) - n; i < len(told.Messages); i++ {
		if told.Messages[i] == nil {
			got = append(got, "-")
			continue
		}
		got = append(got, fmt.Sprintf("%d/%d/%d", *told.Messages[i], *told.Throttled[i], *told.Observed[i]))
	}
	if got := strings.Join(got, " "); got != want {
		c.Errorf("%s, channel %q: %s, want %s", spans[span].name, channel, got, want)
	}
}

func TestRates_EachStep(t *testing.T) {
	c := newCounting(t, noon.Add(3*time.Second))
	c.second("7", 9, 9, 9) // the first step is only partly known
	c.second("7", 0, 0, 0)
	for range 5 {
		c.second("7", 4, 2, 1)
	}
	c.tells(hour, "7", "- - 20/10/5")
	c.second("8", 1, 0, 0)
	c.tells(hour, "7", "- - 20/10/5") // the last completed step
	for range 4 {
		c.second("8", 1, 0, 0)
	}
	c.tells(hour, "7", "- 20/10/5 0/0/0")
	c.tells(hour, "8", "- 0/0/0 5/0/0")
	c.tells(hour, "9", "- 0/0/0 0/0/0")
	c.tells(hour, "", "- 20/10/5 5/0/0")
	c.tells(day, "", "-")
	for c.now.Before(noon.Add(2 * time.Minute)) {
		c.second("7", 1, 1, 0)
	}
	c.tells(day, "", "- 60/60/0")
	if told := c.ratesOver(day, ""); !told.From.Equal(noon.Add(2*time.Minute-24*time.Hour)) || told.StepSeconds != 60 || len(told.Messages) != 1440 {
		t.Errorf("%d steps of %d s from %s", len(told.Messages), told.StepSeconds, told.From)
	}
}

func TestRates_ForgetOldSteps(t *testing.T) {
	c := newCounting(t, noon)
	for range 2 * 3600 {
		c.second("7", 1, 0, 0)
	}
	for _, n := range c.ratesOver(hour, "7").Messages {
		if n == nil || *n != 5 {
			t.Fatalf("in a step of 5 s: %v", n)
		}
	}
}

func TestRates_UncountedIsUnknown(t *testing.T) {
	c := newCounting(t, noon)
	c.pass(5 * time.Second)
	c.second("7", 3, 0, 0)
	c.pass(14 * time.Second) // the machine was asleep
	c.pass(5 * time.Second)
	c.tells(hour, "7", "- 3/0/0 - - -") // it woke up in the last step
	c.pass(5 * time.Second)
	c.tells(hour, "7", "3/0/0 - - - 0/0/0")
	c.pass(48 * time.Hour)
	c.tells(hour, "7", "- - - - -")
	c.tells(day, "7", "- - - - -")
}

func TestRates_ClockSetBack(t *testing.T) {
	c := newCounting(t, noon)
	for range 20 {
		c.second("7", 1, 0, 0)
	}
	c.tells(hour, "7", "- 5/0/0 5/0/0 5/0/0")
	c.pass(-7 * time.Second)
	for range 12 {
		c.second("7", 2, 0, 0)
	}
	c.tells(hour, "7", "- 5/0/0 9/0/0 10/0/0 10/0/0") // 3 of the third step were counted earlier
	c.pass(-20 * time.Hour)
	c.pass(time.Second)
	c.tells(hour, "7", "- - - -")
}

func TestRates_BeforeStart(t *testing.T) {
	c := newCounting(t, noon.Add(30*time.Second))
	minute := func(ago int, channel string, messages, throttled, observed uint32) {
		at := noon.Add(-time.Duration(ago) * time.Minute)
		c.remember(journal.Minute{ChannelID: channel, At: at, Messages: messages, Throttled: throttled, Observed: observed})
	}
	minute(1440, "7", 99, 99, 99) // just outside the last day
	minute(4, "7", 10, 4, 1)
	minute(2, "7", 12, 0, 0)
	minute(2, "8", 24, 0, 0)
	minute(0, "7", 5, 0, 0) // the minute of the start is only in part here
	c.tells(day, "7", "0/0/0 10/4/1 0/0/0 12/0/0 0/0/0")
	c.tells(day, "", "0/0/0 10/4/1 0/0/0 36/0/0 0/0/0")
	c.tells(hour, "7", "1/0/0 1/0/0"+strings.Repeat(" 0/0/0", 12)+strings.Repeat(" -", 6))
	sum := uint32(0)
	for _, n := range c.ratesOver(hour, "7").Throttled {
		if n != nil {
			sum += *n
		}
	}
	if sum != 4 {
		t.Errorf("the throttled messages of a minute are %d in steps of 5 s", sum)
	}
	c.pass(90 * time.Second)
	c.tells(day, "7", "10/4/1 0/0/0 12/0/0 0/0/0 - -")
	if first := c.ratesOver(day, "7").Messages[0]; first == nil || *first != 0 {
		t.Error("a day ago isn't known")
	}
}

func TestRates_BeginWithStore(t *testing.T) {
	c := newCounting(t, noon)
	c.remember(journal.Minute{ChannelID: "7", At: noon.Add(-3 * time.Minute), Messages: 1})
	c.tells(day, "7", "- - 1/0/0 0/0/0 0/0/0")
}

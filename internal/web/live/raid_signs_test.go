package live

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// raidClock runs a channel's chat, second by second, and looks for signs of a raid in it.
type raidClock struct {
	*tallyClock
	users int // who have written so far
}

// newRaidClock returns a chat that had a number of messages in each of the last minutes.
func newRaidClock(t *testing.T, known int, perMinute uint32) *raidClock {
	c := &raidClock{newTallyClock(t, noon), 0}
	for ago := range known {
		c.remember(journal.Minute{ChannelID: "7", At: noon.Add(-time.Duration(known-ago) * time.Minute), Messages: perMinute})
	}
	return c
}

// chat is what is written in each second.
type chat struct {
	regulars int // messages of users who wrote here before, each by another one
	// newcomers and floods are users who begin in this second, and write lines messages, one per
	// second. The newcomers write here for the first time. Of the others, all messages after the
	// second are throttled.
	newcomers, floods, lines int
	spam                     int // throttled messages of the same three users
}

// run runs the chat for some seconds, and returns the second in which it begins to look raided,
// from 1 on; 0 if it doesn't.
func (c *raidClock) run(seconds int, what chat) (began int) {
	say := func(user string, isFirst, isThrottled bool) {
		c.count(&chatguard.Verdict{At: c.now, ChannelID: "7", UserID: user, Allowed: !isThrottled}, isFirst)
	}
	base := c.users
	c.users += seconds * (what.newcomers + what.floods + what.regulars)
	for second := range seconds {
		for i := range what.regulars {
			say("regular "+strconv.Itoa(i), false, false)
		}
		for i := range what.spam {
			say("spammer "+strconv.Itoa(i%3), false, true)
		}
		for line := range min(what.lines, second+1) {
			for i := range what.newcomers {
				say(fmt.Sprint("new ", base, second-line, i), line == 0, false)
			}
			for i := range what.floods {
				say(fmt.Sprint("flood ", base, second-line, i), false, line > 1)
			}
		}
		c.advance(time.Second)
		c.watchRaids(c.now)
		if began == 0 && c.raidSigns("7") != nil {
			began = second + 1
		}
	}
	return began
}

// shownSigns are the numbers of RaidSigns.
type shownSigns struct{ messages, times, percent uint64 }

func TestRaidSigns_Cases(t *testing.T) {
	for name, test := range map[string]struct {
		known     int // minutes
		perMinute uint32
		chat
		began int
		want  shownSigns // after 12 s
	}{
		"a raid":                      {30, 300, chat{regulars: 5, newcomers: 20, lines: 4}, 4, shownSigns{messages: 830, times: 16, percent: 93}},
		"a raid in a quiet channel":   {30, 2, chat{newcomers: 6, lines: 3}, 3, shownSigns{messages: 180, percent: 100}},
		"a raid right after start":    {0, 0, chat{regulars: 5, newcomers: 20, lines: 4}, 2, shownSigns{messages: 830, percent: 93}},
		"too little is known":         {4, 900, chat{newcomers: 10, lines: 1}, 3, shownSigns{messages: 100, percent: 100}},
		"nobody is marked as new":     {30, 300, chat{regulars: 1, floods: 20, lines: 8}, 7, shownSigns{messages: 1310, times: 26, percent: 67}},
		"three people talk":           {30, 1, chat{spam: 9}, 0, shownSigns{}},
		"a few newcomers":             {30, 1, chat{newcomers: 1, lines: 9}, 0, shownSigns{}},
		"a newcomer each second":      {30, 1, chat{newcomers: 1, lines: 1}, 0, shownSigns{}},
		"a busy start":                {0, 0, chat{regulars: 40, newcomers: 2, lines: 1}, 0, shownSigns{}},
		"everybody greets":            {30, 6, chat{regulars: 30}, 0, shownSigns{}},
		"a goal":                      {30, 6000, chat{regulars: 300, newcomers: 12, lines: 3}, 0, shownSigns{}},
		"newcomers at the usual":      {30, 1200, chat{newcomers: 10, lines: 5}, 0, shownSigns{}},
		"usual chat with spammers":    {30, 300, chat{regulars: 5, spam: 5}, 0, shownSigns{}},
		"newcomers of a busy channel": {30, 6000, chat{regulars: 100, newcomers: 5, lines: 1}, 0, shownSigns{}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newRaidClock(t, test.known, test.perMinute)
			if began := c.run(12, test.chat); began != test.began {
				t.Errorf("it looks raided from second %d on, want %d", began, test.began)
			}
			var got shownSigns
			if signs := c.raidSigns("7"); signs != nil {
				got = shownSigns{signs.Messages, signs.Times, 100 * signs.Suspicious / signs.Messages}
				if want := noon.Add(time.Duration(test.began) * time.Second); !signs.Since.Equal(want) {
					t.Errorf("since %v, want %v", signs.Since, want)
				}
			}
			if test.want.percent < got.percent && got.percent < test.want.percent+9 { // others may have a suspect's hash
				got.percent = test.want.percent
			}
			if got != test.want {
				t.Errorf("signs %+v, want %+v", got, test.want)
			}
		})
	}
}

// TestRaidSigns_DoNotFlicker checks that waves of a raid are one raid, that it is over half a
// minute after the last one, and that a later raid is another one.
func TestRaidSigns_DoNotFlicker(t *testing.T) {
	c := newRaidClock(t, 30, 60)
	wave, calm := chat{regulars: 1, newcomers: 20, lines: 2}, chat{regulars: 1}
	c.run(5, wave)
	first := c.raidSigns("7")
	for range 3 {
		c.run(20, calm)
		c.run(5, wave)
	}
	again := c.raidSigns("7")
	if first == nil || again == nil || !again.Since.Equal(first.Since) || again.Messages < first.Messages {
		t.Fatalf("after three more waves %+v, at first %+v", again, first)
	}
	c.run(38, calm) // the wave is within the last ten seconds for most of the first ten
	if c.raidSigns("7") == nil {
		t.Error("it is over too early")
	}
	c.run(2, calm)
	if signs := c.raidSigns("7"); signs != nil {
		t.Errorf("40 s after the last wave: %+v", signs)
	}
	c.run(5, wave)
	if next := c.raidSigns("7"); next == nil || !next.Since.After(first.Since) {
		t.Errorf("the next raid: %+v", next)
	}
}

// TestRaidSigns_EndsAsNewcomersSettle checks that a channel that is busier than before doesn't look
// raided for long, because its newcomers are no longer new.
func TestRaidSigns_EndsAsNewcomersSettle(t *testing.T) {
	c := newRaidClock(t, 30, 60)
	c.run(5, chat{regulars: 1, newcomers: 20, lines: 2})
	if c.raidSigns("7") == nil {
		t.Fatal("it doesn't look raided")
	}
	c.run(60, chat{regulars: 20})
	if signs := c.raidSigns("7"); signs != nil {
		t.Errorf("signs %+v", signs)
	}
}

func TestRaidSigns_Answered(t *testing.T) {
	c := newRaidClock(t, 30, 60)
	wave, calm := chat{regulars: 1, newcomers: 20, lines: 2}, chat{regulars: 1}
	c.run(5, wave)
	c.answerRaid("7")
	if began := c.run(20, wave); began != 0 {
		t.Errorf("answered, and proposed again after %d s", began)
	}
	c.run(50, calm)
	if began := c.run(5, wave); began == 0 {
		t.Error("the next raid isn't proposed")
	}
}

// TestRaidSigns_ClockSet checks that setting the clock neither begins a raid nor makes one last.
func TestRaidSigns_ClockSet(t *testing.T) {
	c := newRaidClock(t, 30, 60)
	c.run(5, chat{newcomers: 20, lines: 2})
	c.advance(-48 * time.Hour)
	c.run(41, chat{regulars: 1})
	if signs := c.raidSigns("7"); signs != nil {
		t.Errorf("signs %+v", signs)
	}
	c.advance(96 * time.Hour)
	if began := c.run(41, chat{regulars: 1}); began != 0 {
		t.Errorf("it looks raided after %d s", began)
	}
}

// TestSuspects_ForAMinuteOrTwo checks who is a suspect, and for how long.
func TestSuspects_ForAMinuteOrTwo(t *testing.T) {
	var s suspects
	for i, step := range []struct {
		user         string
		isSuspicious bool
		is, isNew    bool
		age          bool // afterwards
	}{
		{"a", false, false, false, false},
		{"a", true, true, true, false},
		{"a", true, true, false, false},
		{"a", false, true, false, false},
		{"b", false, false, false, true},
		{"a", false, true, false, false},
		{"a", true, true, false, true},
		{"a", false, true, false, true},
		{"a", false, false, false, false},
		{"a", true, true, true, false},
	} {
		if is, isNew := s.note(step.user, step.isSuspicious); is != step.is || isNew != step.isNew {
			t.Errorf("step %d: %v, %v", i, is, isNew)
		}
		if step.age {
			s.age()
		}
	}
}

// TestSuspects_CountsEachOnce notes the same users at the same time: each becomes a suspect once.
func TestSuspects_CountsEachOnce(t *testing.T) {
	c := newTallyClock(t, noon)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 50 {
				c.count(&chatguard.Verdict{At: noon, ChannelID: "7", UserID: strconv.Itoa(i), Allowed: true}, true)
			}
		})
	}
	all.Wait()
	c.advance(time.Second)
	got := (*c.current.Load())["7"].lastSeconds(1)
	if got.suspicious != 200 || got.people > 50 || got.people < 45 { // a few may have the same hash
		t.Errorf("%d messages of %d suspects, want 200 of 50", got.suspicious, got.people)
	}
}

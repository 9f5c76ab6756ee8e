package lab

import (
	"slices"
	"time"

	"github.com/chatguard/chatguard"
)

// Figures sum up the steps of a lane. A message that waits in a queue counts when it leaves.
type Figures struct {
	Allowed   int `json:"allowed"`
	Throttled int `json:"throttled"`
	Low       int `json:"low"`     // allowed at low priority
	Delayed   int `json:"delayed"` // allowed, but had to wait in a queue
	// MeanPerMinute is how many messages were allowed per minute of the traffic; 0 if it has no
	// duration.
	MeanPerMinute float64 `json:"mean_per_minute"`
	// MostInASecond and MostInAMinute are over any stretch of that length, wherever it begins.
	MostInASecond  int   `json:"most_in_a_second"`
	MostInAMinute  int   `json:"most_in_a_minute"`
	LongestWaitMS  int64 `json:"longest_wait_ms"`  // of a throttled message, until it would pass
	LongestDelayMS int64 `json:"longest_delay_ms"` // in a queue
	// LongestSilentMS is the longest time without an allowed message of anybody: between two of
	// them, or from the last of them to the end of the traffic. What is before the first one is no
	// silence.
	LongestSilentMS int64 `json:"longest_silence_ms"`
	// Loudest is the user with the most allowed messages; nil if there are none.
	Loudest *Share `json:"loudest"`
}

// Share is a user's part of the allowed messages.
type Share struct {
	UserID   string  `json:"user_id"`
	Messages int     `json:"messages"`
	Percent  float64 `json:"percent"`
}

// newFigures sums up the steps. within is how long the traffic lasts.
func newFigures(messages []chatguard.Message, steps []Step, within span) *Figures {
	f := &Figures{}
	left := make([]int64, 0, len(steps)) // when allowed messages left
	of := map[string]int{}
	for i := range steps {
		s, m := &steps[i], &messages[i]
		f.count(s)
		if s.Allowed {
			left = append(left, m.SentAt.Add(s.late+s.Delay).UnixNano())
			of[m.User.ID]++
		}
	}
	slices.Sort(left)
	f.MostInASecond, f.MostInAMinute = mostIn(left, time.Second), mostIn(left, time.Minute)
	for i, at := range left {
		next := within.until.UnixNano()
		if i+1 < len(left) {
			next = left[i+1]
		}
		f.LongestSilentMS = max(f.LongestSilentMS, ceilMillis(time.Duration(next-at)))
	}
	if length := within.until.Sub(within.from); length > 0 {
		f.MeanPerMinute = float64(f.Allowed) * float64(time.Minute) / float64(length)
	}
	f.Loudest = loudest(of, f.Allowed)
	return f
}

// count counts a step.
func (f *Figures) count(s *Step) {
	if !s.Allowed {
		f.Throttled++
		f.LongestWaitMS = max(f.LongestWaitMS, ceilMillis(s.RetryAfter))
		return
	}
	f.Allowed++
	if s.Low {
		f.Low++
	}
	if s.Delay > 0 {
		f.Delayed++
		f.LongestDelayMS = max(f.LongestDelayMS, ceilMillis(s.Delay))
	}
}

// span is when traffic begins and ends.
type span struct{ from, until time.Time }

// spanOf returns the span of the traffic, or without traffic, from the first message to the last.
func spanOf(traffic *Traffic, messages []chatguard.Message) (s span) {
	if traffic != nil {
		return span{traffic.From, traffic.From.Add(time.Duration(traffic.For))}
	}
	for i := range messages {
		at := messages[i].SentAt
		if i == 0 || at.Before(s.from) {
			s.from = at
		}
		if i == 0 || at.After(s.until) {
			s.until = at
		}
	}
	return s
}

// loudest returns the share of the user with the most messages. If several users have equally many,
// it is the one with the lowest ID.
func loudest(of map[string]int, all int) (s *Share) {
	for id, n := range of {
		if s == nil || n > s.Messages || n == s.Messages && id < s.UserID {
			s = &Share{UserID: id, Messages: n, Percent: 100 * float64(n) / float64(all)}
		}
	}
	return s
}

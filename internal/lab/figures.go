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
	MostInASecond   int   `json:"most_in_a_second"`
	MostInAMinute   int   `json:"most_in_a_minute"`
	LongestWaitMS   int64 `json:"longest_wait_ms"`    // of a throttled message, until it would pass
	LongestDelayMS  int64 `json:"longest_delay_ms"`   // in a queue
	LongestSilentMS int64 `json:"longest_silence_ms"` // between two allowed messages of anybody
	// Loudest is the user with the most allowed messages; nil if there are none.
	Loudest *Share `json:"loudest"`
}

// Share is a user's part of the allowed messages.
type Share struct {
	UserID   string  `json:"user_id"`
	Messages int     `json:"messages"`
	Percent  float64 `json:"percent"`
}

// newFigures sums up the steps. span is how long the traffic lasts; 0 means from the first message
// to the last.
func newFigures(messages []chatguard.Message, steps []Step, span time.Duration) *Figures {
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
	for i := 1; i < len(left); i++ {
		f.LongestSilentMS = max(f.LongestSilentMS, ceilMillis(time.Duration(left[i]-left[i-1])))
	}
	if span == 0 {
		span = spanOf(messages)
	}
	if span > 0 {
		f.MeanPerMinute = float64(f.Allowed) * float64(time.Minute) / float64(span)
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

// spanOf returns the time from the first message to the last.
func spanOf(messages []chatguard.Message) time.Duration {
	if len(messages) == 0 {
		return 0
	}
	first, last := messages[0].SentAt, messages[0].SentAt
	for i := range messages {
		if at := messages[i].SentAt; at.Before(first) {
			first = at
		} else if at.After(last) {
			last = at
		}
	}
	return last.Sub(first)
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

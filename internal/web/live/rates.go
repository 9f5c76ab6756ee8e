package live

import "time"

// RatesOver is how busy a channel was in each step of a span, oldest first. The last step is the
// last complete step. A step is null if its value is unknown.
type RatesOver struct {
	From        time.Time `json:"from"`
	StepSeconds int       `json:"step_seconds"`
	Messages    []*uint32 `json:"messages"`
	Throttled   []*uint32 `json:"throttled"` // including those that were only observed
	Observed    []*uint32 `json:"observed"`
}

// ratesOver returns how busy a channel was in a span. An empty channel means all channels.
func (t *tallies) ratesOver(span int, channel string) RatesOver {
	t.mu.Lock()
	defer t.mu.Unlock()
	var histories [][]stepCounts
	for name, c := range *t.current.Load() {
		if channel == "" || name == channel {
			histories = append(histories, c.history[span])
		}
	}
	c := t.calendars[span]
	rates := RatesOver{From: time.Unix(0, c.first()*int64(c.step)).UTC(), StepSeconds: int(c.step / time.Second)}
	for step := c.first(); step < c.now; step++ {
		if !c.known[c.place(step)] {
			rates.add(nil, nil, nil)
			continue
		}
		var all stepCounts
		for _, h := range histories {
			all = all.add(h[c.place(step)])
		}
		rates.add(&all.messages, &all.throttled, &all.observed)
	}
	return rates
}

func (r *RatesOver) add(messages, throttled, observed *uint32) {
	r.Messages, r.Throttled, r.Observed = append(r.Messages, messages), append(r.Throttled, throttled), append(r.Observed, observed)
}

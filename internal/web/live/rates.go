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
	Low         []*uint32 `json:"low"`            // allowed at low priority
	Peak        *Peak     `json:"peak,omitempty"` // nil if there were no messages
}

// Peak is the busiest whole minute of a span. If several are equally busy, it is the first.
type Peak struct {
	At       time.Time `json:"at"` // the minute's start
	Messages uint32    `json:"messages"`
}

// period selects the last steps of a ring.
type period struct{ ring, steps int }

// periods are the spans with a fixed length.
var periods = map[string]period{
	"quarter": {fine, 180},
	"hour":    {fine, 720},
	"day":     {minutes, 1440},
}

// since returns the period from a time until now. It has fine steps if they reach back far enough.
func (t *tallies) since(began time.Time) period {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, c := range t.calendars {
		if steps := int(c.now - c.stepAt(began)); steps <= c.steps || i == minutes {
			return period{i, min(max(steps, 1), c.steps)}
		}
	}
	return periods["day"]
}

// ratesOver returns how busy a channel was in a period. An empty channel means all channels.
func (t *tallies) ratesOver(p period, channel string) RatesOver {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.calendars[p.ring]
	first := c.now - int64(p.steps)
	rates := RatesOver{From: time.Unix(0, first*int64(c.step)).UTC(), StepSeconds: int(c.step / time.Second)}
	t.eachStep(p.ring, channel, first, func(_ int64, counts *stepCounts) {
		if counts == nil {
			rates.add(nil, nil, nil, nil)
		} else {
			rates.add(&counts.messages, &counts.throttled, &counts.observed, &counts.low)
		}
	})
	rates.Peak = t.peakSince(channel, rates.From)
	return rates
}

// eachStep calls do with the counts of each complete step of a ring, from first on. The counts are
// nil if they are unknown. The caller holds mu.
func (t *tallies) eachStep(ring int, channel string, first int64, do func(step int64, counts *stepCounts)) {
	var histories [][]stepCounts
	for name, c := range *t.current.Load() {
		if channel == "" || name == channel {
			histories = append(histories, c.history[ring])
		}
	}
	c := t.calendars[ring]
	for step := max(first, c.first()); step < c.now; step++ {
		if !c.known[c.place(step)] {
			do(step, nil)
			continue
		}
		var all stepCounts
		for _, h := range histories {
			all = all.add(h[c.place(step)])
		}
		do(step, &all)
	}
}

// peakSince returns the busiest minute since a time. The caller holds mu.
func (t *tallies) peakSince(channel string, from time.Time) (peak *Peak) {
	c := t.calendars[minutes]
	t.eachStep(minutes, channel, c.stepAt(from.Add(c.step-1)), func(step int64, counts *stepCounts) {
		if counts == nil || counts.messages == 0 || peak != nil && counts.messages <= peak.Messages {
			return
		}
		peak = &Peak{At: time.Unix(0, step*int64(c.step)).UTC(), Messages: counts.messages}
	})
	return peak
}

func (r *RatesOver) add(messages, throttled, observed, low *uint32) {
	r.Messages, r.Throttled, r.Observed = append(r.Messages, messages), append(r.Throttled, throttled), append(r.Observed, observed)
	r.Low = append(r.Low, low)
}

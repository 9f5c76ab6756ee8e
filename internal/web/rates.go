package web

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
)

// ratesOver is how busy a channel was in each step of a span that is over, the oldest first; null where that isn't known.
type ratesOver struct {
	From        time.Time `json:"from"`
	StepSeconds int       `json:"step_seconds"`
	Messages    []*uint32 `json:"messages"`
	Throttled   []*uint32 `json:"throttled"` // those that were only observed, too
	Observed    []*uint32 `json:"observed"`
}

// getRates is GET /rates?channel=&span=; without a channel it tells of all of them, without a span of the last hour.
func (s *Server) getRates(w http.ResponseWriter, r *http.Request, _ caller) error {
	name := r.URL.Query().Get("span")
	i := slices.IndexFunc(spans[:], func(s span) bool { return s.name == name || name == "" })
	if i < 0 {
		return refuse(http.StatusBadRequest, `The span is "hour" or "day", not %s.`, quoted(name))
	}
	return writeJSON(w, s.tallies.over(i, r.URL.Query().Get("channel")))
}

// over returns how busy a channel was in a span; the empty channel stands for all of them.
func (t *tallies) over(span int, channel string) ratesOver {
	t.mu.Lock()
	defer t.mu.Unlock()
	var histories [][]counted
	for name, c := range *t.current.Load() {
		if channel == "" || name == channel {
			histories = append(histories, c.history[span])
		}
	}
	c := t.calendars[span]
	told := ratesOver{From: time.Unix(0, c.first()*int64(c.step)).UTC(), StepSeconds: int(c.step / time.Second)}
	for step := c.first(); step < c.now; step++ {
		if !c.known[c.place(step)] {
			told.add(nil, nil, nil)
			continue
		}
		var all counted
		for _, h := range histories {
			all = all.plus(h[c.place(step)])
		}
		told.add(&all.messages, &all.throttled, &all.observed)
	}
	return told
}

func (r *ratesOver) add(messages, throttled, observed *uint32) {
	r.Messages, r.Throttled, r.Observed = append(r.Messages, messages), append(r.Throttled, throttled), append(r.Observed, observed)
}

// remember asks the store how busy the channels were before the start. It can't tell the quiet from what nobody heard: both have no messages.
func (s *Server) remember(ctx context.Context) {
	day := spans[len(spans)-1]
	since := s.opts.Now().Add(-time.Duration(day.steps) * day.step)
	err := s.opts.Store.Minutes(ctx, since, func(m journal.Minute) error {
		s.tallies.remember(m)
		return ctx.Err()
	})
	if err != nil && ctx.Err() == nil {
		s.opts.Log.Warn("how busy chat was before the start isn't known", "error", err)
	}
}

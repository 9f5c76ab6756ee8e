package web

import (
	"context"
	"net/http"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

const mostTop = 10 // users in an answer

// topUsers is the answer to a request for the most throttled users.
type topUsers struct {
	timespan
	Timezone  string             `json:"timezone"` // of the channel's days
	Throttled journal.Throttling `json:"throttled"`
	// Before is the same part of the day before, or of the last stream. It is missing if nobody was
	// throttled then.
	Before *earlier `json:"before,omitempty"`
}

// earlier sums up a period before another one.
type earlier struct {
	timespan
	Users    int `json:"users"`
	Messages int `json:"messages"`
	Observed int `json:"observed_messages"`
}

// rankings answers requests for the most throttled users of a period.
type rankings struct {
	spans
	reads *longReads
}

// The periods that a request can name instead of a time.
const (
	sinceDay    = "day"
	sinceStream = "stream"
)

// getTop is GET /channels/{channel}/top?since=. The period begins with the channel's day by
// default, or with its running stream, or at a time.
func (h *rankings) getTop(w http.ResponseWriter, r *http.Request, who access.Caller, channel string) error {
	now, before, err := h.requested(r.Context(), channel, r.URL.Query().Get("since"))
	if err != nil {
		return err
	}
	return answerLong(w, r, h.reads, who, func() (topUsers, error) { return h.rank(r.Context(), channel, now, before) })
}

// requested returns the period that a request names, and the earlier one to compare it with. The
// latter is empty if there is none.
func (h *rankings) requested(ctx context.Context, channel, since string) (now, before timespan, err error) {
	switch since {
	case "", sinceDay:
		return h.today(channel)
	case sinceStream:
		running, ended, err := h.streams(ctx, channel)
		if err == nil && running == nil {
			err = problem.New(http.StatusConflict, "No stream is running in this channel, as far as chatguard knows.")
		}
		if err != nil {
			return now, before, err
		}
		if ended != nil {
			before = ended.cut(running.length())
		}
		return *running, before, nil
	}
	at, err := time.Parse(time.RFC3339, since)
	now = timespan{at.UTC(), h.guard.Now().UTC()}
	if err != nil || !now.From.Before(now.Until) {
		return now, before, problem.New(http.StatusBadRequest, `since must be "day", "stream" or a past time in RFC 3339 form, not %s.`, problem.Quote(since))
	}
	return now, before, nil
}

// rank reads both periods.
func (h *rankings) rank(ctx context.Context, channel string, now, before timespan) (answer topUsers, err error) {
	answer = topUsers{timespan: now, Timezone: h.timezone(channel)}
	if answer.Throttled, err = h.store.Throttling(ctx, channel, now.From, now.Until, mostTop); err != nil {
		return answer, errUnreadable("The journal can't be read now", err)
	}
	if before.From.IsZero() {
		return answer, nil
	}
	then, err := h.store.Throttling(ctx, channel, before.From, before.Until, 0)
	if err != nil {
		return answer, errUnreadable("The journal can't be read now", err)
	}
	if then.Messages+then.Observed > 0 {
		answer.Before = &earlier{before, then.Users, then.Messages, then.Observed}
	}
	return answer, nil
}

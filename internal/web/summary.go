package web

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/simulate"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/live"
)

const (
	summaryTop     = 5
	summaryChanges = 20
	// summaryAudits is the maximum number of changes that are read for a summary. The newest ones
	// are read.
	summaryAudits = 2000
)

// summaries is the answer to a request for a channel's summary.
type summaries struct {
	Timezone string   `json:"timezone"`          // of the channel's days
	Running  *summary `json:"running,omitempty"` // of the running stream, so far
	// Last is the summary of the last stream that ended. If no stream is known, it is the summary
	// of the channel's last complete day.
	Last *summary `json:"last,omitempty"`
}

// summary sums up a stream or a day.
type summary struct {
	Kind string `json:"kind"` // "stream" or "day"
	timespan
	Throttled journal.Throttling `json:"throttled"`
	Pardoned  int                `json:"pardoned_users"`
	Grants    int                `json:"grants"`
	// Changes are the newest changes by people besides pardons and grants.
	Changes     []summaryChange `json:"changes"`
	MoreChanges int             `json:"more_changes"` // not listed
	// Recorded is missing if the messages of the period are no longer recorded.
	Recorded *recordedPart `json:"recorded,omitempty"`
}

// summaryChange is a change by a person.
type summaryChange struct {
	At     time.Time           `json:"at"`
	Author string              `json:"author"`
	Action journal.AuditAction `json:"action"`
}

// recordedPart is the part of a summary that comes from the recorded messages.
type recordedPart struct {
	Messages int        `json:"messages"`
	Users    int        `json:"users"`
	Peak     *live.Peak `json:"peak,omitempty"`
	// InForce is what the limits in force now would have done, as if enforced. It is missing if
	// they need more memory than a preview has.
	InForce *inForcePart `json:"in_force,omitempty"`
}

type inForcePart struct {
	Users    int `json:"users"`    // with messages that would be throttled
	Messages int `json:"messages"` // that would be throttled
}

// summarizer answers requests for summaries.
type summarizer struct {
	spans
	reads    *longReads
	previews *previews
	cache    *summaryCache
}

// getSummary is GET /channels/{channel}/summary.
func (h *summarizer) getSummary(w http.ResponseWriter, r *http.Request, who access.Caller, channel string) error {
	return answerLong(w, r, h.reads, who, func() (*summaries, error) { return h.summarize(r.Context(), channel) })
}

func (h *summarizer) summarize(ctx context.Context, channel string) (answer *summaries, err error) {
	running, ended, err := h.streams(ctx, channel)
	if err != nil {
		return nil, err
	}
	answer = &summaries{Timezone: h.timezone(channel)}
	if running != nil {
		if answer.Running, err = h.sumUp(ctx, channel, "stream", *running); err != nil {
			return nil, err
		}
	}
	kind := "stream"
	if ended == nil && running == nil {
		kind = "day"
		today, err := h.dayOf(channel, h.guard.Now())
		if err != nil {
			return nil, err
		}
		yesterday, err := h.dayOf(channel, today.From.Add(-time.Second))
		if err != nil {
			return nil, err
		}
		ended = &yesterday
	}
	if ended != nil {
		answer.Last, err = h.sumUp(ctx, channel, kind, *ended)
	}
	return answer, err
}

// sumUp sums up a period.
func (h *summarizer) sumUp(ctx context.Context, channel, kind string, of timespan) (sum *summary, err error) {
	sum = &summary{Kind: kind, timespan: of}
	if sum.Throttled, err = h.store.Throttling(ctx, channel, of.From, of.Until, summaryTop); err != nil {
		return nil, errUnreadable("The journal can't be read now", err)
	}
	if err := h.addChanges(ctx, channel, sum); err != nil {
		return nil, errUnreadable("The audit log can't be read now", err)
	}
	sum.Recorded, err = h.recorded(ctx, channel, of)
	return sum, err
}

// addChanges adds what people changed.
func (h *summarizer) addChanges(ctx context.Context, channel string, sum *summary) error {
	sum.Changes = []summaryChange{}
	pardoned := map[string]bool{} // false if the newest change undid a pardon
	wanted := journal.AuditFilter{ChannelID: channel, N: mostPage}
	for read := 0; read < summaryAudits; read += mostPage {
		page, err := h.store.Audits(ctx, wanted)
		if err != nil {
			return err
		}
		for _, a := range page {
			wanted.Before = a.ID
			if a.At.Before(sum.From) {
				read = summaryAudits
				break
			}
			if a.At.Before(sum.Until) {
				sum.addChange(a, pardoned)
			}
		}
		if len(page) < mostPage {
			break
		}
	}
	for _, is := range pardoned {
		if is {
			sum.Pardoned++
		}
	}
	return nil
}

// addChange adds a change that is older than those added before.
func (s *summary) addChange(a journal.Audit, pardoned map[string]bool) {
	switch a.Action {
	case journal.UserPardoned, journal.UserUnpardoned:
		if _, newer := pardoned[a.UserID]; !newer {
			pardoned[a.UserID] = a.Action == journal.UserPardoned
		}
	case journal.UserGranted:
		s.Grants++
	default:
		if len(s.Changes) < summaryChanges {
			s.Changes = append(s.Changes, summaryChange{a.At, a.Author, a.Action})
		} else {
			s.MoreChanges++
		}
	}
}

// recorded judges the recorded messages of a period by the limits in force now, unless the cache
// has the result. It returns nil if the messages are no longer recorded.
func (h *summarizer) recorded(ctx context.Context, channel string, of timespan) (*recordedPart, error) {
	now := h.guard.Now()
	if now.Sub(of.From) > mostHours*time.Hour {
		return nil, nil
	}
	own, err := h.previews.overridesOf(ctx, channel)
	if err != nil {
		return nil, err
	}
	present := basis{h.guard.ChannelPolicy(channel), own}
	if known := h.cache.find(channel, of, present, now); known != nil {
		return known, nil
	}
	timeline, part := simulate.NewTimeline(maxLookback), &recordedPart{}
	if err := h.readTimeline(ctx, channel, of, timeline, part); err != nil {
		return nil, errUnreadable("The recorded messages can't be read now", err)
	}
	part.Messages, part.Users = timeline.Messages(), timeline.Users()
	outcome, err := simulate.Judge(ctx, timeline, present.policy, present.own)
	switch {
	case err == nil:
		part.InForce = &inForcePart{outcome.ThrottledUsers, outcome.ThrottledMessages}
	case !errors.As(err, new(*simulate.BudgetError)):
		return nil, err
	}
	h.cache.keep(channel, of, present, part, now)
	return part, nil
}

// readTimeline reads the messages of a period and finds its busiest minute.
func (h *summarizer) readTimeline(ctx context.Context, channel string, of timespan, into *simulate.Timeline, part *recordedPart) error {
	counts := map[int64]uint32{} // by minute
	err := h.store.Timeline(ctx, channel, of.From, func(said []journal.TimelineMessage) error {
		for i := range said {
			if !said[i].At.Before(of.Until) {
				into.Add(said[:i])
				return errEnough
			}
			counts[said[i].At.Unix()/60]++
		}
		into.Add(said)
		return ctx.Err()
	})
	for minute, n := range counts {
		if at := time.Unix(minute*60, 0).UTC(); part.Peak == nil || n > part.Peak.Messages || n == part.Peak.Messages && at.Before(part.Peak.At) {
			part.Peak = &live.Peak{At: at, Messages: n}
		}
	}
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

package web

import (
	"context"
	"maps"
	"math"
	"net/http"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/live"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// states answers requests for the current state.
type states struct {
	model  *live.Model
	access *access.Authenticator
}

// namedStatus is the status as sent to a caller.
type namedStatus struct {
	Name string `json:"name"` // the caller's name
	live.Status
}

// getStatus is GET /status?channel=.
func (s states) getStatus(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	return problem.WriteJSON(w, namedStatus{who.Name, s.model.Status(live.NewAudience(r.URL.Query().Get("channel"), who.Identity))})
}

// shownChannels is the answer to GET /channels.
type shownChannels struct {
	Channels     []live.Channel      `json:"channels"`
	Unidentified []live.Unidentified `json:"unidentified,omitempty"`
}

// getChannels is GET /channels. It lists those that the caller may see.
func (s states) getChannels(w http.ResponseWriter, _ *http.Request, who access.Caller) error {
	return problem.WriteJSON(w, shownChannels{s.model.ChannelsFor(who.Identity), s.model.UnidentifiedFor(who.Identity)})
}

// mostThrottled is the maximum number of users in an answer to GET /throttled.
const mostThrottled = 1000

// throttledUsers is the answer to GET /throttled.
type throttledUsers struct {
	Users []live.Throttled `json:"users"` // those throttled first
	More  bool             `json:"more,omitempty"`
}

// getThrottled is GET /throttled?channel=&within=. Without a channel it covers all channels. within
// is a number of seconds, and adds the users who were throttled in that time.
func (s states) getThrottled(w http.ResponseWriter, r *http.Request, _ access.Caller) error {
	q := problem.QueryOf(r)
	within := time.Duration(q.Number("within", 0, 1, int64(live.Recent/time.Second))) * time.Second
	if q.Err != nil {
		return q.Err
	}
	users := s.model.Throttled(r.URL.Query().Get("channel"), within)
	n := min(len(users), mostThrottled)
	return problem.WriteJSON(w, throttledUsers{users[:n], n < len(users)})
}

// messagesAround is the most messages that getMessages returns before and after a message.
const messagesAround = 20

// getMessages is GET /channels/{channel}/messages?entry=&user=&n=. It answers with the messages
// around the message of a journal entry, around a user's last message, or around the channel's last
// message.
func (s states) getMessages(w http.ResponseWriter, r *http.Request, _ access.Caller, channelID string) error {
	q := problem.QueryOf(r)
	user, entry := q.Text("user"), q.Number("entry", 0, 1, math.MaxInt64)
	n := q.Number("n", 5, 0, messagesAround)
	if q.Err != nil {
		return q.Err
	}
	return problem.WriteJSON(w, map[string][]live.Said{"messages": s.model.Around(channelID, user, chatguard.EntryID(entry), int(n))})
}

// getRates is GET /rates?channel=&span=. Without a channel it covers all channels, without a span
// the last hour.
func (s states) getRates(w http.ResponseWriter, r *http.Request, _ access.Caller) error {
	name, channel := r.URL.Query().Get("span"), r.URL.Query().Get("channel")
	rates, ok := s.model.Rates(name, channel)
	switch {
	case !ok && name == "stream":
		return problem.New(http.StatusConflict, "No stream is running in this channel, as far as chatguard knows.")
	case !ok:
		return problem.New(http.StatusBadRequest, `The span must be "quarter", "hour", "day" or "stream", not %s.`, problem.Quote(name))
	}
	return problem.WriteJSON(w, rates)
}

// serveLive is GET /live.
func (s states) serveLive(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	return s.model.ServeFeed(w, r, live.Viewer{Identity: who.Identity, Rights: func(ctx context.Context) live.Rights {
		now, ok := s.access.Again(ctx, who)
		switch {
		case !ok:
			return live.NoRights
		case !maps.Equal(now.Channels, who.Channels):
			return live.ChangedRights
		}
		return live.SameRights
	}})
}

package app

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/helix"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
	"github.com/chatguard/chatguard/internal/clock"
	"github.com/chatguard/chatguard/internal/web/live"
)

// TestHelixState checks that Helix isn't reported as ok before its first answer, and that a problem
// is reported until Helix answers again.
func TestHelixState(t *testing.T) {
	server := twitchtest.Start(t, "gardenhour")
	now := time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)
	client := &helix.Client{
		BaseURL: server.HelixURL(), ClientID: server.ClientID, Clock: clock.Clock{NowFunc: func() time.Time { return now }},
		Token: func(context.Context) (string, error) { return server.Token(), nil },
	}
	defer client.Close()
	if _, ok := helixState(nil); ok {
		t.Error("there is none")
	}
	for n, step := range []struct {
		// answer to a message to send; nil sends none
		ask    func(faketwitch.Request) (faketwitch.Fault, bool)
		state  live.ConnectionState
		detail string
	}{
		{nil, live.Unasked, ""},
		{answerWith(http.StatusInternalServerError, nil), live.Failing, "Twitch answered with status 500, Internal Server Error"},
		{answerWith(faketwitch.AsAsked, nil), live.Ample, ""},
		{answerWith(http.StatusTooManyRequests, http.Header{"Date": {now.Format(http.TimeFormat)}, "Ratelimit-Remaining": {"0"}, "Ratelimit-Reset": {"1772395205"}}), live.Low, "Twitch refused requests until 20:00:05 UTC (status 429)"},
	} {
		if step.ask != nil {
			server.SetHelixFaults(step.ask)
			// its result is checked below
			_ = client.SendMessage(t.Context(), server.UserID("gardenhour"), server.BotID(), "hello", "")
		}
		if c, ok := helixState(client); !ok || c.Name != "Helix" || c.State != step.state || c.Detail != step.detail {
			t.Errorf("step %d: %+v, want %s %q", n, c, step.state, step.detail)
		}
	}
}

// answerWith returns a fault function that answers every request with this status and header.
func answerWith(status int, header http.Header) func(faketwitch.Request) (faketwitch.Fault, bool) {
	return func(faketwitch.Request) (faketwitch.Fault, bool) {
		return faketwitch.Fault{Status: status, Header: header, Message: http.StatusText(status)}, true
	}
}

// TestSummarize checks that of many channels with the same problem some are named, and the others
// counted.
// TestActingState checks what users of a channel get, for each answer to who acts there.
func TestActingState(t *testing.T) {
	noon := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		acting chat.Acting
		want   live.Connection
	}{
		"this node":    {chat.Acting{Self: true, Leader: "a"}, live.Connection{}},
		"another node": {chat.Acting{Leader: "b"}, live.Connection{State: live.Standby, Detail: "node b acts in it"}},
		"alone": {chat.Acting{Self: true, Leader: "a", Since: noon, Problem: "Redis is away"}, live.Connection{
			State: live.Alone, Since: noon, Detail: "since 2026-01-05T12:00:00Z, because the shared store can't be used: Redis is away"}},
		"nobody": {chat.Acting{Since: noon, Problem: "Redis is away"}, live.Connection{
			State: live.Unmoderated, Since: noon, Detail: "since 2026-01-05T12:00:00Z: Redis is away"}},
		"nobody yet": {chat.Acting{Since: noon.Add(time.Minute)}, live.Connection{
			State: live.Unmoderated, Since: noon.Add(time.Minute), Brief: true, Detail: "since 2026-01-05T12:01:00Z: no node has begun to act in it yet"}},
		"unknown": {chat.Acting{Leader: "b", Since: noon, Problem: "Redis is away"}, live.Connection{
			State: live.Standby, Since: noon, Detail: "node b acted in it before the shared store couldn't be used any more, and goes on if it still runs: Redis is away"}},
	} {
		got := actingState(c.acting, noon.Add(time.Minute))
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		if got.State.IsTrouble() != (got.State == live.Unmoderated) && name != "this node" || got.State.IsDegraded() != (got.State == live.Alone) {
			t.Errorf("%s: trouble %v, degraded %v", name, got.State.IsTrouble(), got.State.IsDegraded())
		}
	}
}

func TestSummarize(t *testing.T) {
	var list []live.Connection
	for i := range MostNotes {
		list = append(list, live.Connection{Name: fmt.Sprint("#c", i), State: live.NotRead})
	}
	if got := summarize(list, namesThem); !slices.Equal(got, list) {
		t.Errorf("of a few channels: %+v", got)
	}
	more := live.Connection{Channel: live.SeveralChannels, Name: "and 4 more", State: live.NotRead, Detail: namesThem}
	if got := summarize(append(list, list[:4]...), namesThem); !slices.Equal(got, append(list, more)) {
		t.Errorf("of nine channels: %+v", got)
	}
}

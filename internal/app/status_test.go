package app

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/helix"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
	"github.com/chatguard/chatguard/internal/clock"
	"github.com/chatguard/chatguard/internal/web/live"
)

var must = twitchtest.Must

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

func TestConnections_ChannelsNotJoined(t *testing.T) {
	began := time.Now()
	s := twitch.Status{State: twitch.Connected, Since: began, Channels: []twitch.Channel{{Login: "a", Joined: true}, {Login: "b"}}}
	if problems := joinProblems(s, began.Add(5*time.Second)); len(problems) != 0 {
		t.Errorf("too early: %q", problems)
	}
	if problems := joinProblems(s, began.Add(time.Minute)); !slices.Equal(problems, []string{"#b: Twitch doesn't let us in: check the name"}) {
		t.Errorf("after a minute: %q", problems)
	}
	for i := range 9 {
		s.Channels = append(s.Channels, twitch.Channel{Login: fmt.Sprint("c", i), Problem: "banned"})
	}
	if problems := joinProblems(s, began.Add(time.Minute)); len(problems) != MostNotes+1 || problems[MostNotes] != "and 5 more channels" {
		t.Errorf("of ten channels: %q", problems)
	}
}

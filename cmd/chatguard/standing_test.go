package main

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/web"
)

// TestHelixState: Helix isn't said to be ok before it has answered, and what is wrong with it is said until it answers again.
func TestHelixState(t *testing.T) {
	server, err := faketwitch.Start(faketwitch.Options{Channels: []string{"gardenhour"}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	now := time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)
	helix := &twitch.Helix{
		BaseURL: server.HelixURL(), AuthURL: server.AuthURL(), ClientID: server.ClientID, Now: func() time.Time { return now },
		Token: func(context.Context) (string, error) { return server.Token(), nil },
	}
	defer helix.Close()
	a := &app{twitch: &twitchConnection{}}
	if _, ok := a.helixState(); ok {
		t.Error("there is none")
	}
	a.twitch.helix = helix
	for n, step := range []struct {
		ask    func(faketwitch.Request) (faketwitch.Fault, bool) // how a message is answered that is to be said; nil asks nothing
		state  web.ConnectionState
		detail string
	}{
		{nil, web.Unasked, ""},
		{answersWith(http.StatusInternalServerError, nil), web.Failing, "Twitch answered with status 500, Internal Server Error"},
		{answersWith(faketwitch.AsAsked, nil), web.Ample, ""},
		{answersWith(http.StatusTooManyRequests, http.Header{"Date": {now.Format(http.TimeFormat)}, "Ratelimit-Remaining": {"0"}, "Ratelimit-Reset": {"1772395205"}}), web.Low, "Twitch refused requests until 20:00:05 UTC (status 429)"},
	} {
		if step.ask != nil {
			server.SetHelixFaults(step.ask)
			_ = helix.SendMessage(t.Context(), server.UserID("gardenhour"), server.BotID(), "hello", "") // what it answers is looked at below
		}
		if c, ok := a.helixState(); !ok || c.Name != "Helix" || c.State != step.state || c.Detail != step.detail {
			t.Errorf("step %d: %+v, want %s %q", n, c, step.state, step.detail)
		}
	}
}

// answersWith answers every request to Helix like that.
func answersWith(status int, header http.Header) func(faketwitch.Request) (faketwitch.Fault, bool) {
	return func(faketwitch.Request) (faketwitch.Fault, bool) {
		return faketwitch.Fault{Status: status, Header: header, Message: http.StatusText(status)}, true
	}
}

package app

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/helix"
	"github.com/chatguard/chatguard/internal/chat/twitch/token"
	"github.com/chatguard/chatguard/internal/chat/twitchbot"
	"github.com/chatguard/chatguard/internal/web/live"
)

// fewRequests is the number of remaining requests below which a flood would soon use them up.
const fewRequests = 100

// helixState returns whether Helix works and how many requests it still accepts. ok is false if the
// bot doesn't use Helix.
func helixState(client *helix.Client) (c live.Connection, ok bool) {
	if client == nil {
		return c, false
	}
	c = live.Connection{Name: "Helix", State: live.Ample}
	left, health := client.Left(0), client.Health()
	refused, failed := client.Trouble()
	switch {
	case refused != "":
		c.State, c.Detail = live.Low, refused
	case failed != "":
		c.State, c.Detail = live.Failing, failed
	case !health.Answered:
		c.State = live.Unasked
	case left < fewRequests:
		c.State, c.Detail = live.Low, fmt.Sprintf("%d requests left: late penalties are dropped", left)
	}
	return c, true
}

// tokenState returns the state of the bot's token; ok is false if none is needed.
func tokenState(t *twitchbot.Connection) (c live.Connection, ok bool) {
	s := t.Tokens().Status()
	c = live.Connection{Name: "Token", State: live.Valid, Since: s.Since, Detail: s.Detail}
	switch s.State {
	case token.Missing:
		c.State = live.Missing
		if !t.NeedsToken() { // chat is read even without a token
			c.Detail = noTokenYet
		}
		return c, t.NeedsToken()
	case token.Revoked:
		c.State = live.Refused
	case token.Unknown:
		c.State = live.Unchecked
	}
	return c, true
}

// reconnectTime is how long a lost connection to the chat is no reason to be unready. Twitch asks
// for a new connection now and then, which takes a second or two.
const reconnectTime = 15 * time.Second

// readingState returns the state of reading the chat.
func readingState(t *twitchbot.Connection, now time.Time) live.Connection {
	s := t.Status()
	c := live.Connection{Name: "Twitch", State: live.Disconnected, Since: s.Since, Detail: s.Detail}
	switch s.State {
	case twitch.Connecting:
		c.State = live.Connecting
	case twitch.Connected:
		c.State, c.Detail = live.Connected, strings.Join(slices.Concat(t.Anonymous(), readProblems(s)), "; ")
	}
	c.Brief = isBrief(s, now)
	return c
}

// isBrief reports whether the connection to the chat was lost so short ago that it is no trouble
// yet.
func isBrief(s twitch.Status, now time.Time) bool {
	return s.State != twitch.Connected && !s.LostAt.IsZero() && now.Sub(s.LostAt) < reconnectTime
}

// readProblems returns the problems of channels that are read.
func readProblems(s twitch.Status) (problems []string) {
	for _, c := range s.Channels {
		if c.Problem != "" && !c.ShutOut {
			problems = append(problems, "#"+c.Login+": "+c.Problem)
		}
	}
	if more := len(problems) - MostNotes; more > 0 {
		problems = append(problems[:MostNotes], fmt.Sprintf("and %d more channels", more))
	}
	return problems
}

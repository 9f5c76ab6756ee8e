package app_test

import (
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/config"
)

// fault is something that goes wrong at Twitch during a storm.
type fault struct {
	name    string
	only    []string                  // affected transports; nil means all
	twitch  func(*faketwitch.Options) // changes the fake Twitch's options
	ladder  []chatguard.Penalty       // replaces the storm's ladder unless nil
	begin   func(*storm)              // called once
	disturb func(*storm)              // called every few seconds

	reorders bool // messages may be lost or reordered
	unheard  bool // the bot possibly doesn't learn that an action was done
	// holdsUp means that requests may be delayed. Delayed requests reach Twitch closer together
	// than the bot sent them.
	holdsUp bool
	limited bool // Twitch takes fewer requests of a kind than the bot expects
}

func (f fault) transports() []string {
	if f.only == nil {
		return transports
	}
	return f.only
}

var (
	overIRC      = []string{config.TransportIRC, config.TransportIRCWebSocket}
	overEventSub = []string{config.TransportEventSub}
	// Helix is the same for IRC over WebSocket
	overBoth = []string{config.TransportIRC, config.TransportEventSub}
)

// faults are all faults.
var faults = []fault{
	// Faults of chat delivery.
	{name: "duplicates", begin: func(s *storm) { s.delivery.Duplicate = 0.3 }},
	{name: "out of order", begin: func(s *storm) { s.delivery.Shuffle = 0.3 }, reorders: true},
	{name: "late", begin: func(s *storm) { s.delivery.Late = 0.3 }, reorders: true},
	{name: "garbage", begin: func(s *storm) { s.delivery.Garbage = 0.3 }, reorders: true},
	{name: "reconnect", begin: func(s *storm) { s.delivery.Reconnect = 0.01 }, reorders: true},
	{name: "disconnect", begin: func(s *storm) { s.delivery.Disconnect = 0.01 }, reorders: true},

	// Faults of connections.
	{name: "stall", only: overIRC, begin: func(s *storm) { s.delivery.Stall = 0.01 }, reorders: true},
	{name: "silence", only: overEventSub, disturb: func(s *storm) { s.server.StallEventSub(s.rng.IntN(2) == 0) }, reorders: true},
	{name: "close after some lines", only: overIRC, begin: func(s *storm) { s.server.CloseAfter(60) }, disturb: disconnect, reorders: true},
	{name: "refuse connections", disturb: func(s *storm) {
		s.cutOff([]error{net.ErrClosed, nil}[s.rng.IntN(2)])
		disconnect(s)
	}, reorders: true, unheard: true},
	{name: "hang up", only: overIRC, disturb: func(s *storm) {
		s.server.HangUp(2)
		disconnect(s)
	}, reorders: true},
	{name: "refuse logins", only: overIRC, disturb: func(s *storm) {
		s.server.RefuseLogins(s.rng.IntN(2) == 0)
		disconnect(s)
	}, reorders: true},
	{name: "no welcome", disturb: func(s *storm) {
		s.server.StallLogins(1)
		s.server.StallWelcomes(1)
		disconnect(s)
	}, reorders: true},
	{name: "joins ignored", only: overIRC, disturb: func(s *storm) {
		s.server.IgnoreJoins(2)
		disconnect(s)
	}, reorders: true},
	{name: "reconnect address void", only: overEventSub, disturb: func(s *storm) {
		s.server.ReconnectEventSub()
		s.server.SpoilReconnects()
	}, reorders: true},
	{name: "subscriptions revoked", only: overEventSub, disturb: func(s *storm) {
		s.server.RevokeSubscriptions(stormChannels[s.rng.IntN(len(stormChannels))], "channel.moderate", "moderator_removed")
	}},

	// Faults of Helix.
	{name: "400", only: overBoth, begin: refuseActs(http.StatusBadRequest)},
	{name: "401", only: overBoth, begin: refuseActs(http.StatusUnauthorized)},
	{name: "403", only: overBoth, begin: refuseActs(http.StatusForbidden)},
	{name: "404", only: overBoth, begin: refuseActs(http.StatusNotFound)},
	{name: "409", only: overBoth, begin: refuseActs(http.StatusConflict)},
	{name: "429 with reset", only: overBoth, holdsUp: true, begin: addHelixFault("/helix/", 0.05, busyFor3s)},
	{name: "429 with reset, only deletes", only: overBoth, holdsUp: true, ladder: onlyDeletes, begin: addHelixFault("/helix/", 0.05, busyFor3s)},
	{name: "500", only: overBoth, begin: addHelixFault("/helix/", 0.3, func(*storm) faketwitch.Fault { return faketwitch.Fault{Status: http.StatusInternalServerError} })},
	{name: "503 although it obeys", only: overBoth, unheard: true, begin: addHelixFault("/helix/", 0.3, func(*storm) faketwitch.Fault {
		return faketwitch.Fault{Status: http.StatusServiceUnavailable, After: true}
	})},
	{name: "no answer", only: overBoth, begin: addHelixFault("/helix/", 0.3, func(*storm) faketwitch.Fault { return faketwitch.Fault{} })},
	{name: "no answer although it obeys", only: overBoth, unheard: true, begin: addHelixFault("/helix/", 0.3, func(*storm) faketwitch.Fault { return faketwitch.Fault{After: true} })},
	{name: "cut off", only: overBoth, unheard: true, begin: addHelixFault("/helix/", 0.3, func(*storm) faketwitch.Fault {
		return faketwitch.Fault{Status: faketwitch.AsAsked, Cut: true}
	})},
	{name: "429 without headers", only: overBoth, holdsUp: true, begin: addHelixFault("/helix/", 0.05, func(*storm) faketwitch.Fault {
		return faketwitch.Fault{Status: http.StatusTooManyRequests, Message: "Too Many Requests", Header: http.Header{"Ratelimit-Remaining": nil}}
	})},
	{name: "few timeouts and warnings", only: overBoth, limited: true, twitch: func(o *faketwitch.Options) { o.SanctionLimit = 3 }},
	{name: "timeouts fail", only: overBoth, begin: addHelixFault("/helix/moderation/bans", 1, func(*storm) faketwitch.Fault {
		return faketwitch.Fault{Status: http.StatusInternalServerError}
	})},
	{name: "timeouts are refused", only: overBoth, begin: addHelixFault("/helix/moderation/bans", 1, func(*storm) faketwitch.Fault {
		return faketwitch.Fault{Status: http.StatusBadRequest, Message: "The user specified in the user_id field was not found."}
	})},
	{name: "slow", only: overBoth, holdsUp: true, begin: addHelixFault("/helix/", 0.5, func(s *storm) faketwitch.Fault {
		return faketwitch.Fault{Status: faketwitch.AsAsked, Delay: time.Duration(s.luck.Int64N(int64(3 * time.Second)))}
	})},
	{name: "too slow", only: overBoth, unheard: true, holdsUp: true, begin: addHelixFault("/helix/", 0.1, func(*storm) faketwitch.Fault {
		return faketwitch.Fault{Status: faketwitch.AsAsked, Delay: 20 * time.Second}
	})},
	{name: "small budget", only: overBoth, holdsUp: true, twitch: func(o *faketwitch.Options) { o.HelixBudget = 30 }, begin: func(s *storm) { s.spammers = 20 }},
	{name: "small budget, only deletes", only: overBoth, holdsUp: true, ladder: onlyDeletes,
		twitch: func(o *faketwitch.Options) { o.HelixBudget = 30 }, begin: func(s *storm) { s.spammers = 20 }},

	// Faults of the identity server.
	{name: "tokens expire", disturb: func(s *storm) { s.server.ExpireTokens() }},
	{name: "tokens expire, and can't be renewed for a while", disturb: func(s *storm) {
		s.server.FailAuth(nil)
		if s.rng.IntN(2) == 0 {
			s.server.FailAuth(&faketwitch.Fault{Status: http.StatusBadGateway})
		}
		s.server.ExpireTokens()
	}, reorders: true, holdsUp: true},
}

var onlyDeletes = []chatguard.Penalty{{Action: chatguard.ActionDelete}}

// busyFor3s is Helix's answer if its budget is empty.
func busyFor3s(*storm) faketwitch.Fault {
	reset := strconv.FormatInt(time.Now().Add(3*time.Second).Unix(), 10)
	return faketwitch.Fault{Status: http.StatusTooManyRequests, Header: http.Header{"Ratelimit-Remaining": {"0"}, "Ratelimit-Reset": {reset}}}
}

func disconnect(s *storm) {
	s.server.Disconnect()
	s.server.DropEventSub()
}

// helixFault is the answer to a share of the requests to some endpoints.
type helixFault struct {
	path  string
	share float64
	fault func(*storm) faketwitch.Fault
}

// addHelixFault returns a function that makes f decide the answers to a share of the requests to
// paths with this prefix.
func addHelixFault(path string, share float64, f func(*storm) faketwitch.Fault) func(*storm) {
	return func(s *storm) { s.helix = append(s.helix, helixFault{path, share, f}) }
}

// refuseActs makes Helix refuse a fifth of the bot's actions on messages and users.
func refuseActs(status int) func(*storm) {
	return addHelixFault("/helix/moderation/", 0.2, func(*storm) faketwitch.Fault {
		return faketwitch.Fault{Status: status, Message: http.StatusText(status)}
	})
}

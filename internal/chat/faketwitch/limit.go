package faketwitch

import (
	"net/http"
	"time"
)

// Twitch's limits on actions against users, per channel. Twitch documents that there are limits,
// but not their numbers. The number for timeouts, bans and unbans together was measured. Warnings
// count separately here, with the same number.
const (
	sanctionsPerPeriod = 100
	sanctionPeriod     = 30 * time.Second
)

// limitError is Twitch's text for a 429 that says nothing about the request budget.
const limitError = "The app has exceeded the number of requests it may make per minute for this broadcaster."

// limitPerChannel returns the endpoint with a limit on its requests per channel. of returns the
// channel's requests that count.
func (s *helixServer) limitPerChannel(of func(*channel) *recentTimes, endpoint func(call, *channel) reply) func(call, *channel) reply {
	return func(c call, room *channel) reply {
		if most := s.opts.SanctionLimit; most > 0 && !of(room).take(c.at, most, sanctionPeriod) {
			return refusal(http.StatusTooManyRequests, limitError)
		}
		return endpoint(c, room)
	}
}

func sanctionsIn(room *channel) *recentTimes { return &room.sanctions }
func warningsIn(room *channel) *recentTimes  { return &room.warnings }

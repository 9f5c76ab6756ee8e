package app_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/config"
)

// checkLive checks since when the dashboard says that the channel is live. The zero time means that
// it isn't live.
func (s *simulation) checkLive(since time.Time, known bool) {
	s.Helper()
	channel := s.bot.Web.Channels()[0]
	if !channel.LiveSince.Equal(since) || channel.StreamsKnown != known {
		s.Errorf("live since %v, known %v; want %v, %v", channel.LiveSince, channel.StreamsKnown, since, known)
	}
}

// TestStreams_FromTwitch checks that a stream is known within a minute, keeps its start over a
// restart and a short interruption, and is recorded with its end.
func TestStreams_FromTwitch(t *testing.T) {
	t.Parallel()
	testEachTransport(t, faketwitch.Options{}, func(s *simulation) {
		s.start()
		s.advance(2 * time.Second)
		s.checkLive(time.Time{}, true)
		began := time.Now().UTC().Truncate(time.Second)
		s.server.SetLive("gardenhour", began)
		s.advance(time.Minute)
		s.checkLive(began, true)
		s.stop()
		s.start()
		s.advance(2 * time.Second)
		s.checkLive(began, true)
		s.server.SetLive("gardenhour", time.Time{})
		s.advance(2 * time.Minute)
		s.checkLive(time.Time{}, true)
		s.server.SetLive("gardenhour", time.Now()) // the same stream: it was interrupted
		s.advance(time.Minute)
		s.checkLive(began, true)
		s.server.SetLive("gardenhour", time.Time{})
		s.advance(11 * time.Minute)
		streams, err := s.bot.Host.Store.Streams(context.Background(), "", 9)
		if err != nil || len(streams) != 1 || !streams[0].Start.Equal(began) || !streams[0].Ended {
			s.Errorf("recorded %+v, %v", streams, err)
		}
	})
}

// TestStreams_NoToken checks that no stream is known without a token.
func TestStreams_NoToken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSimulation(t, oneMessageConfig(config.TransportIRC), faketwitch.Options{Channels: []string{"gardenhour"}})
		s.config.Twitch.Token, s.config.Twitch.RefreshToken = "", ""
		s.server.SetLive("gardenhour", time.Now())
		s.start()
		s.advance(2 * time.Minute)
		s.checkLive(time.Time{}, false)
	})
}

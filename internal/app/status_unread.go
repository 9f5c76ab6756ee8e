package app

import (
	"cmp"
	"errors"
	"net"
	"time"

	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/token"
	"github.com/chatguard/chatguard/internal/chat/twitchbot"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/web/live"
)

// unidentified returns the channels of the configuration whose IDs aren't known yet, and why they
// aren't read.
func (s *status) unidentified() (list []live.Unidentified) {
	reading := s.twitch.Status()
	for _, c := range reading.Channels {
		if s.channelID(c) != "" {
			continue
		}
		if unread := unreadOf(s.twitch, reading, c, time.Now()); unread != nil {
			list = append(list, live.Unidentified{Login: c.Login, Unread: *unread})
		}
	}
	return list
}

// channelID returns the ID of a channel, or "" if it isn't known. It is known once chatguard has
// joined the channel, now or before the start.
func (s *status) channelID(c twitch.Channel) string {
	return cmp.Or(c.RoomID, s.directory.id(c.Login))
}

// unreadReasons are the reasons of channels that we are shut out of.
var unreadReasons = map[twitch.Refusal]live.UnreadReason{
	twitch.NoChannel: live.NoChannel, twitch.Banned: live.Banned, twitch.NotAllowed: live.NotAllowed, twitch.OtherChannel: live.OtherChannel,
	twitch.NotAnswered: live.NotAnswered, twitch.OtherRefusal: live.OtherReason,
}

// unreadOf returns why a channel isn't read now. It returns nil if the channel is read.
func unreadOf(t *twitchbot.Connection, reading twitch.Status, c twitch.Channel, now time.Time) *live.Unread {
	switch {
	case c.Joined:
		return nil
	case c.ShutOut:
		return &live.Unread{Reason: unreadReasons[c.Refusal], Detail: c.Problem}
	case t.NeedsToken():
		if trouble := tokenTrouble(t, reading); trouble != nil {
			return trouble
		}
	}
	if reading.Failure == nil || isBrief(reading, now) {
		return &live.Unread{Reason: live.Joining}
	}
	return outage(reading.Failure)
}

// outage returns that Twitch can't be reached because of an error.
func outage(err error) *live.Unread {
	unread := live.Unread{Reason: live.Unreachable, Detail: hostile.Detail(err.Error())}
	if errors.As(err, new(*net.DNSError)) {
		unread.Reason = live.NoAddress
	}
	return &unread
}

// tokenTrouble returns what is wrong with a token that reading needs, or with the requests that
// need it. It returns nil if nothing is wrong, or if that isn't known yet.
func tokenTrouble(t *twitchbot.Connection, reading twitch.Status) *live.Unread {
	s := t.Tokens().Status()
	switch {
	case s.State == token.Missing:
		return &live.Unread{Reason: live.NoToken}
	case s.State == token.Revoked:
		return &live.Unread{Reason: live.TokenRefused, Detail: s.Detail}
	case s.State == token.Unknown && s.Trouble != nil:
		return outage(s.Trouble)
	case reading.State != twitch.Connected:
		return nil
	}
	if _, failed := t.Helix().Trouble(); failed != "" {
		return &live.Unread{Reason: live.Unreachable, Detail: failed}
	}
	return nil
}

package main

import (
	"strings"
	"time"

	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/web"
)

// channels are those whose IDs are known: Twitch tells them when it lets us in.
func (t *twitchConnection) channels() []web.Channel {
	list := []web.Channel{}
	for _, c := range t.irc.Status().Channels {
		if c.RoomID != "" {
			list = append(list, web.Channel{ID: c.RoomID, Login: c.Login})
		}
	}
	return list
}

// connections is how we stand with Twitch, as the dashboard shows it: reading, and moderating where that is refused.
func (t *twitchConnection) connections() []web.Connection {
	t.mu.Lock()
	reading, trouble, refused := t.reading, t.trouble, t.refused
	t.mu.Unlock()
	list := []web.Connection{t.readingState(reading, trouble)}
	if refused != "" {
		list = append(list, web.Connection{Name: "Moderation", State: web.Disconnected, Detail: refused})
	}
	return list
}

func (t *twitchConnection) readingState(reading bool, trouble string) web.Connection {
	s := t.irc.Status()
	c := web.Connection{Name: "Twitch", State: web.Disconnected, Since: s.Since, Detail: s.Detail}
	switch {
	case trouble != "":
		c.Detail = trouble
	case !reading, s.State == twitch.Connecting:
		c.State = web.Connecting
	case s.State == twitch.Connected:
		c.State, c.Detail = web.Connected, notJoined(s, time.Now())
	}
	return c
}

// notJoined names the channels that Twitch hasn't let us into, once that is strange: it takes 20 at once, and 2 a second then.
func notJoined(s twitch.Status, now time.Time) string {
	if now.Sub(s.Since) < 10*time.Second+time.Duration(len(s.Channels))*500*time.Millisecond {
		return ""
	}
	var missing []string
	for _, c := range s.Channels {
		if !c.Joined {
			missing = append(missing, "#"+c.Login)
		}
	}
	if len(missing) == 0 {
		return ""
	}
	return "Twitch doesn't let us into " + strings.Join(missing, ", ") + ": check the names"
}

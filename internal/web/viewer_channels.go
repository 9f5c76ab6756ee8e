package web

import (
	"cmp"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard/internal/web/live"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// viewerChannelsAge is how long the list of channels is reused. Making it takes longer than the
// rest of a viewer's request.
const viewerChannelsAge = time.Second

// viewerChannels are the channels whose viewers may use the page for viewers. Rooms of other chats
// are not among them, because their users have no accounts on Twitch. It is safe for concurrent
// use.
type viewerChannels struct {
	model *live.Model
	space string // see check.Options.Space
	now   func() time.Time
	last  atomic.Pointer[channelList]
}

// channelList is the list as it was at a time.
type channelList struct {
	at      time.Time
	byLogin map[string]viewerChannel
	first   string // login of the first channel
}

// viewerChannel is a channel with the part of its state that matters to a viewer.
type viewerChannel struct {
	id, login string
	raidUntil time.Time
	observing bool // nobody is throttled
}

// find returns the channel with a login. Without a login, it is the first channel.
func (c *viewerChannels) find(login string) (viewerChannel, error) {
	all := c.list()
	channel, ok := all.byLogin[strings.ToLower(cmp.Or(login, all.first))]
	switch {
	case len(all.byLogin) == 0:
		return channel, problem.New(http.StatusServiceUnavailable, "No channel is known yet. Try again in a moment.").After(viewerChannelsAge)
	case !ok:
		return channel, problem.New(http.StatusNotFound, "There is no channel %s here.", problem.Quote(login))
	}
	return channel, nil
}

func (c *viewerChannels) list() *channelList {
	now := c.now()
	if last := c.last.Load(); last != nil && now.Sub(last.at) < viewerChannelsAge && !now.Before(last.at) {
		return last
	}
	list := &channelList{at: now, byLogin: map[string]viewerChannel{}}
	for _, one := range c.model.Channels() {
		if c.space != "" && strings.HasPrefix(one.ID, c.space) {
			continue
		}
		login := strings.ToLower(one.Login)
		if len(list.byLogin) == 0 {
			list.first = login
		}
		list.byLogin[login] = viewerChannel{one.ID, one.Login, one.RaidUntil, c.model.Observes(one.ID)}
	}
	c.last.Store(list)
	return list
}

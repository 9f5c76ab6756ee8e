package twitchsignin

import (
	"context"
	"slices"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/chat/twitch/person"
)

// standing is a person's role in a channel on Twitch.
type standing int

const (
	moderator standing = iota + 1
	broadcaster
)

// question asks Twitch who a person is, and returns their standing in the served channels.
func (m *Members) question(ctx context.Context, p *person.Person, served map[string]string) (account person.Account, channels map[string]standing, err error) {
	account, ids, err := p.Moderates(ctx)
	if err != nil {
		return account, nil, err
	}
	m.opts.Owners.See(ctx, account)
	return account, standings(served, account, ids), nil
}

// standings returns the standing of an account in the served channels. moderated are the IDs of the
// channels in which it is a moderator.
func standings(served map[string]string, account person.Account, moderated []string) map[string]standing {
	channels := map[string]standing{}
	for _, id := range moderated {
		if _, ok := served[id]; ok {
			channels[id] = moderator
		}
	}
	if _, ok := served[account.ID]; ok && account.ID != "" {
		channels[account.ID] = broadcaster
	}
	return channels
}

// names returns the logins of channels, for the log.
func (m *Members) names(channels map[string]standing) (logins []string) {
	for id, login := range m.opts.Channels() {
		if channels[id] != 0 {
			logins = append(logins, login)
		}
	}
	slices.Sort(logins)
	return logins
}

// identity returns what the person may do now. The caller holds mu.
func (m *Members) identity(of *session) auth.Identity {
	if m.opts.Owners.Has(of.account.ID) {
		return auth.Identity{Name: of.account.Login, From: auth.FromTwitch, Access: auth.Own}
	}
	who := auth.Identity{Name: of.account.Login, From: auth.FromTwitch, Channels: map[string]auth.Access{}}
	for id, is := range of.channels {
		may := auth.Own
		if is == moderator {
			may = m.opts.Moderators(id)
		}
		if !may.Allows(auth.View) {
			continue
		}
		who.Channels[id] = may
		if may.Allows(who.Access) {
			who.Access = may
		}
	}
	return who
}

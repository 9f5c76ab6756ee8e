package main

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
)

// pastRaid is how long before the demo's start a raid came.
const pastRaid = 50 * time.Minute

// anna and berta moderate in the dashboard.
const anna, berta = "anna", "berta"

// pastUser is a user in a channel, by ID.
type pastUser struct{ channelID, userID string }

// pastPerson is what moderators know about a user.
type pastPerson struct {
	line     faketwitch.Line // the last one
	messages int
	strikes  int
	last     chatguard.Action // last penalty
	lastAt   time.Time        // time of the last penalty
}

type pastPeople map[pastUser]*pastPerson

// note records a message and its verdict.
func (all pastPeople) note(user pastUser, l faketwitch.Line, v chatguard.Verdict) {
	p := all[user]
	if p == nil {
		p = &pastPerson{}
		all[user] = p
	}
	p.line = l
	p.messages++
	if !v.Allowed {
		p.strikes, p.last, p.lastAt = v.Strikes, v.Penalty.Action, v.At
	}
}

// chattiest returns a channel's users by the number of their messages, most first. Staff are left
// out.
func (all pastPeople) chattiest(channelID string) []pastUser {
	moderates := chatguard.RolesOf(chatguard.Moderator, chatguard.LeadModerator, chatguard.Broadcaster)
	users := slices.Collect(maps.Keys(all))
	users = slices.DeleteFunc(users, func(u pastUser) bool { return u.channelID != channelID || rolesOfLine(all[u].line)&moderates != 0 })
	slices.SortFunc(users, func(a, b pastUser) int {
		return cmp.Or(cmp.Compare(all[b].messages, all[a].messages), cmp.Compare(a.userID, b.userID))
	})
	return users
}

// lastDeleted returns the channel's user whose message was deleted last, and who has not done
// anything worse.
func (all pastPeople) lastDeleted(channelID string) pastUser {
	users := slices.DeleteFunc(all.chattiest(channelID), func(u pastUser) bool { return all[u].last != chatguard.Delete || all[u].strikes > 2 })
	return slices.MaxFunc(users, func(a, b pastUser) int { return all[a].lastAt.Compare(all[b].lastAt) })
}

// addChanges adds what the moderators changed.
func (p *past) addChanges() {
	first, second := p.twitch.UserID(demoChannel), p.twitch.UserID(secondDemoChannel)
	controls := p.host.Controls
	regular := func(n int, author string) journal.Target {
		u := p.people.chattiest(first)[n]
		return journal.Target{ChannelID: u.channelID, UserID: u.userID, Author: author}
	}
	for before, change := range map[time.Duration]func(context.Context) error{
		lastStream - 20*time.Minute: func(ctx context.Context) error {
			return p.revise(ctx, first, anna, func(l *chatguard.Limit) { l.Refill = 3 * time.Second })
		},
		lastStream - 65*time.Minute: func(ctx context.Context) error {
			return p.revise(ctx, first, berta, func(l *chatguard.Limit) {
				l.Refill = 4 * time.Second
				l.Roles = map[chatguard.Role]chatguard.Override{chatguard.VIP: {Burst: 6}, chatguard.Subscriber: {Burst: 5, Refill: 3 * time.Second}}
			})
		},
		lastStream - 70*time.Minute: func(ctx context.Context) error {
			return p.revise(ctx, second, anna, func(l *chatguard.Limit) { l.Refill = 2 * time.Second })
		},
		78 * time.Minute: func(ctx context.Context) error { return savedOrNot(controls.Pause(ctx, first, berta)) },
		75 * time.Minute: func(ctx context.Context) error { return savedOrNot(controls.Resume(ctx, first, berta)) },
		pastRaid - 15*time.Second: func(ctx context.Context) error {
			_, saved, err := controls.StartRaid(ctx, first, anna, 10*time.Minute)
			return savedOrNot(saved, err)
		},
		pastRaid - 5*time.Minute: func(ctx context.Context) error { return savedOrNot(controls.EndRaid(ctx, first, anna)) },
		41 * time.Minute: func(ctx context.Context) error {
			_, saved, err := controls.Grant(ctx, regular(0, anna), "daily", 50)
			return savedOrNot(saved, err)
		},
		33 * time.Minute: func(ctx context.Context) error {
			_, err := controls.Exempt(ctx, regular(1, berta), nil, 24*time.Hour)
			return err
		},
		26 * time.Minute: func(ctx context.Context) error {
			own := chatguard.UserOverride{Limits: map[string]chatguard.Override{"burst": {Burst: 2}, "daily": {Messages: 40}}}
			_, err := controls.SetOverride(ctx, regular(2, berta), nil, own)
			return err
		},
		14 * time.Minute: func(ctx context.Context) error {
			u := p.people.lastDeleted(first)
			_, saved, err := controls.PardonUser(ctx, journal.Target{ChannelID: u.channelID, UserID: u.userID, Author: anna})
			return savedOrNot(saved, err)
		},
		7 * time.Minute: func(context.Context) error { p.failing = true; return nil },
	} {
		p.events = append(p.events, pastEvent{at: p.start.Add(-before), change: change})
	}
}

// revise changes a channel's first limit.
func (p *past) revise(ctx context.Context, channelID, author string, edit func(*chatguard.Limit)) error {
	_, err := p.host.Policies.Revise(ctx, control.Request{ChannelID: channelID, Author: author}, func(policy chatguard.Policy) (chatguard.Policy, error) {
		edit(&policy.Limits[0])
		return policy, nil
	})
	return err
}

// savedOrNot returns the error of a change.
func savedOrNot(_ bool, err error) error { return err }

package demo

import (
	"context"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/internal/roles"
)

// raidAt is how long before the demo's start a raid came.
const raidAt = 50 * time.Minute

// anna and berta moderate in the dashboard.
const anna, berta = "anna", Moderator

// addChanges adds what the moderators changed.
func (p *past) addChanges() {
	first, second := p.twitch.UserID(First), p.twitch.UserID(Second)
	controls := p.host.Controls
	regular := func(n int, author string) journal.Target {
		u := p.people.chattiest(first)[n]
		return journal.Target{ChannelID: u.channelID, UserID: u.userID, Author: author}
	}
	// slowDown gives a regular a message every 12 minutes.
	slowDown := func(n int) func(context.Context) error {
		return func(ctx context.Context) error {
			own := chatguard.UserOverride{Limits: map[string]chatguard.Override{"burst": {Burst: 1, Refill: 12 * time.Minute}}}
			_, err := controls.Users.SetOverride(ctx, regular(n, berta), nil, own)
			return err
		}
	}
	for before, change := range map[time.Duration]func(context.Context) error{
		lastStream - 20*time.Minute: func(ctx context.Context) error {
			return p.revise(ctx, first, anna, func(l *chatguard.Limit) { l.Refill = 3 * time.Second })
		},
		lastStream - 65*time.Minute: func(ctx context.Context) error {
			return p.revise(ctx, first, berta, func(l *chatguard.Limit) {
				l.Refill = 4 * time.Second
				l.Roles = map[chatguard.Role]chatguard.Override{roles.VIP: {Burst: 6}, roles.Subscriber: {Burst: 5, Refill: 3 * time.Second}}
			})
		},
		lastStream - 70*time.Minute: func(ctx context.Context) error {
			return p.revise(ctx, second, anna, func(l *chatguard.Limit) { l.Refill = 2 * time.Second })
		},
		78 * time.Minute: func(ctx context.Context) error { return savedOrNot(controls.Switches.Pause(ctx, first, berta)) },
		75 * time.Minute: func(ctx context.Context) error { return savedOrNot(controls.Switches.Resume(ctx, first, berta)) },
		raidAt - 15*time.Second: func(ctx context.Context) error {
			_, saved, err := controls.Raids.Start(ctx, first, anna, 10*time.Minute)
			return savedOrNot(saved, err)
		},
		raidAt - 5*time.Minute: func(ctx context.Context) error { return savedOrNot(controls.Raids.End(ctx, first, anna)) },
		41 * time.Minute: func(ctx context.Context) error {
			_, saved, err := controls.Users.Grant(ctx, regular(0, anna), "daily", 50)
			return savedOrNot(saved, err)
		},
		33 * time.Minute: func(ctx context.Context) error {
			_, err := controls.Users.Exempt(ctx, regular(1, berta), nil, 24*time.Hour)
			return err
		},
		26 * time.Minute: func(ctx context.Context) error {
			own := chatguard.UserOverride{Limits: map[string]chatguard.Override{"burst": {Burst: 2}, "daily": {Messages: 40}}}
			_, err := controls.Users.SetOverride(ctx, regular(2, berta), nil, own)
			return err
		},
		14 * time.Minute: func(ctx context.Context) error {
			u := p.people.lastDeleted(first)
			_, saved, err := controls.Pardons.PardonUser(ctx, journal.Target{ChannelID: u.channelID, UserID: u.userID, Author: anna})
			return savedOrNot(saved, err)
		},
		// at different times, so that they are on different rungs
		13 * time.Minute: slowDown(4),
		8 * time.Minute:  slowDown(8),
		5 * time.Minute:  slowDown(12),
		3 * time.Minute:  slowDown(16),
		2 * time.Minute:  slowDown(20),

		7 * time.Minute: func(context.Context) error { p.failing = true; return nil },
	} {
		p.events = append(p.events, event{at: p.before(before), change: change})
	}
}

// revise changes a channel's first limit.
func (p *past) revise(ctx context.Context, channelID, author string, edit func(*chatguard.Limit)) error {
	_, err := p.host.Policies.Revise(ctx, policies.Request{ChannelID: channelID, Author: author}, func(policy chatguard.Policy) (chatguard.Policy, error) {
		edit(&policy.Limits[0])
		return policy, nil
	})
	return err
}

// savedOrNot returns the error of a change, and ignores whether the change is saved yet.
func savedOrNot(_ bool, err error) error { return err }

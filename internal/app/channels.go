package app

import (
	"context"
	"slices"
	"time"
)

// lookUpTime is how long the start waits for the IDs of channels from Twitch.
const lookUpTime = 10 * time.Second

// enter records a channel's ID. If the ID is new and the channel has its own policy, enter applies
// that policy.
func (a *App) enter(login, id string) {
	a.Host.Policies.Shared.Serve(id)
	if _, own := a.directory.config().OwnPolicy(login, id); a.directory.learn(login, id) && own {
		a.enterOwn(login, id)
	}
}

// enterOwn applies a channel's own policy.
func (a *App) enterOwn(login, id string) {
	if err := a.Host.Policies.Enter(id); err != nil {
		a.log.Error("a channel's own policy can't be applied", "channel", id, "login", login, "error", err)
	}
}

// lookUpChannels looks up the IDs of channels with their own policy, so that the policy is in force
// before usage is restored. Otherwise limits that only such a policy has would start at zero. The
// IDs come from Twitch, or from the database if it has seen the channels before.
func (a *App) lookUpChannels(ctx context.Context) error {
	stored, err := a.Host.Store.Channels(ctx)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for id, login := range stored {
		known[login] = true
		a.directory.add(login, id)
		a.Host.Policies.Shared.Serve(id)
	}
	for _, room := range a.directory.config().Check.Channels {
		a.Host.Policies.Shared.Serve(RoomID(room))
	}
	var own []string
	for _, login := range a.directory.config().Twitch.Channels {
		if _, ok := a.directory.config().OwnPolicy(login); ok {
			own = append(own, login)
		}
	}
	ctx, stop := context.WithTimeout(ctx, lookUpTime)
	defer stop()
	found, err := a.Twitch.LookUp(ctx, own)
	for _, account := range found {
		if !a.directory.accepts(account.Login, account.ID) {
			continue
		}
		known[account.Login] = true
		a.directory.learn(account.Login, account.ID)
	}
	if unknown := slices.DeleteFunc(own, func(login string) bool { return known[login] }); len(unknown) > 0 {
		a.log.Warn("the IDs of channels with their own tables aren't known yet: the tables apply once Twitch sends the IDs, and limits that only they have start again",
			"channels", unknown, "error", err)
	}
	return nil
}

// enterRoom applies a room's own policy when a server first asks about it.
func (a *App) enterRoom(id string) {
	a.directory.noteAsked(id)
	a.Host.Policies.Shared.Serve(id)
	if a.directory.learnRoom(*a.directory.config(), id) {
		name, _ := roomName(id)
		a.enterOwn(name, id)
	}
}

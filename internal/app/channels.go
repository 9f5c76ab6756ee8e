package app

import (
	"context"
	"slices"
	"time"

	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitchbot"
	"github.com/chatguard/chatguard/internal/config"
)

// lookUpTime is how long the start waits for the IDs of channels from Twitch.
const lookUpTime = 10 * time.Second

// enter records a channel's ID. If the ID is new and the channel has its own policy, enter applies
// that policy.
func (d *directory) enter(login, id string) {
	d.host.Policies.Shared.Serve(id)
	if _, own := d.config().OwnPolicy(login, id); d.learn(login, id) && own {
		d.enterOwn(login, id)
	}
}

// enterOwn applies a channel's own policy.
func (d *directory) enterOwn(login, id string) {
	if err := d.host.Policies.Enter(id); err != nil {
		d.log.Error("a channel's own policy can't be applied", "channel", id, "login", login, "error", err)
	}
}

// lookUpChannels looks up the IDs of channels with their own policy, so that the policy is in force
// before usage is restored. Otherwise limits that only such a policy has would start at zero. The
// IDs come from Twitch, or from the database if earlier processes have stored them.
func (d *directory) lookUpChannels(ctx context.Context, t *twitchbot.Connection) error {
	stored, err := d.host.Store.Channels(ctx)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for id, login := range stored {
		known[login] = true
		d.add(login, id)
		d.host.Policies.Shared.Serve(id)
	}
	for _, room := range d.config().Check.Channels {
		d.host.Policies.Shared.Serve(RoomID(room))
	}
	var own []string
	for _, login := range d.config().Twitch.Channels {
		if _, ok := d.config().OwnPolicy(login); ok {
			own = append(own, login)
		}
	}
	ctx, stop := context.WithTimeout(ctx, lookUpTime)
	defer stop()
	found, err := t.LookUp(ctx, own)
	for _, account := range found {
		if !d.accepts(account.Login, account.ID) {
			continue
		}
		known[account.Login] = true
		d.learn(account.Login, account.ID)
	}
	if unknown := slices.DeleteFunc(own, func(login string) bool { return known[login] }); len(unknown) > 0 {
		d.log.Warn("the IDs of channels with their own tables aren't known yet: the tables apply once Twitch sends the IDs, and limits that only they have start again",
			"channels", unknown, "error", err)
	}
	return nil
}

// enterRoom applies a room's own policy when a server first asks about the room.
func (d *directory) enterRoom(id string) {
	d.noteAsked(id)
	d.host.Policies.Shared.Serve(id)
	if d.learnRoom(*d.config(), id) {
		name, _ := roomName(id)
		d.enterOwn(name, id)
	}
}

// rename records the new names of channels that were renamed on Twitch. It does so only if a
// configuration has the new name and not the former one. The returned function undoes that.
func (d *directory) rename(channels []twitch.Channel, c config.Config) (undo func()) {
	former := map[string]string{} // by ID
	for _, channel := range channels {
		id := d.id(channel.Login)
		if id != "" && slices.Contains(c.Twitch.Channels, channel.Now) && !slices.Contains(c.Twitch.Channels, channel.Login) {
			former[id] = channel.Login
			d.learn(channel.Now, id)
		}
	}
	return func() {
		for id, login := range former {
			d.learn(login, id)
		}
	}
}

package app

import (
	"fmt"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/journal"
)

// configured has the policies of a configuration by channel ID, for the channels that the directory
// knows.
type configured struct {
	config    config.Config
	directory *directory
}

// Default returns the policy of all channels without their own.
func (c configured) Default() chatguard.Policy { return c.config.Policy }

// Policy returns the policy that the configuration gives a channel.
func (c configured) Policy(id string) chatguard.Policy {
	if name, ok := roomName(id); ok {
		return c.config.PolicyFor(name)
	}
	return c.config.PolicyFor(c.directory.login(id), id)
}

// Channels returns the IDs of the channels that may have their own policy. It adds the rooms with
// their own policy to the directory.
func (c configured) Channels() []string {
	for _, id := range listedRooms(c.config) {
		c.directory.learnRoom(c.config, id)
	}
	ids, _ := Unlisted(c.config)
	return append(ids, c.directory.ids()...)
}

// acceptable refuses a policy of a Twitch channel that requires something this bot can't do. Other
// policies are accepted, because the server that asks carries them out.
func (a *App) acceptable(id string, p chatguard.Policy) error {
	if len(a.Config.Twitch.Channels) == 0 || !a.directory.isTwitch(id) {
		return nil
	}
	if key, problem := unfit(p); problem != "" {
		return fmt.Errorf("%s %s", key, problem)
	}
	return nil
}

// discardHint says how to discard a channel's live changes.
func (a *App) discardHint(id string) string {
	return "run `chatguard policy discard " + a.directory.name(id) + "`"
}

// liveChanges returns a line for each key of a channel's policy that was changed live.
func (a *App) liveChanges() (lines []string) {
	for _, live := range a.Host.Policies.LiveChanges() {
		name := a.directory.name(live.ChannelID)
		if live.Problem != nil {
			lines = append(lines, fmt.Sprintf("#%s: %s", name, unusableRevision(live, name)))
		}
		for _, c := range live.Difference {
			lines = append(lines, fmt.Sprintf("#%s: %s stays %s, changed live by %s (revision %d); the configuration has %s",
				name, c.Key, hostile.Printable(journal.ValueText(c.To)), hostile.Printable(live.Author), live.Number, hostile.Printable(journal.ValueText(c.From))))
		}
	}
	return lines
}

// unusableRevision returns why a channel's live changes aren't in force.
func unusableRevision(live control.LiveChange, channel string) string {
	return fmt.Sprintf("revision %d by %s can't be used: %s. `chatguard policy discard %s` discards it",
		live.Number, hostile.Printable(live.Author), hostile.Printable(live.Problem.Error()), channel)
}

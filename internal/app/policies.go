package app

import (
	"errors"
	"fmt"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/node"
	"github.com/chatguard/chatguard/internal/penalties"
	"github.com/chatguard/chatguard/internal/policies"
)

// configured has the policies of a configuration by channel ID, for the channels that the directory
// knows.
type configured struct {
	config    config.Config
	directory *directory
}

// Default returns the policy of all channels without their own.
func (c configured) Default() chatguard.Policy { return ownPart(c.config, c.config.Policy) }

// Policy returns the policy that the configuration gives a channel.
func (c configured) Policy(id string) chatguard.Policy {
	return configuredPolicy(c.config, c.directory.login(id), id)
}

// configuredPolicy returns the policy that a configuration gives a channel. login is empty if it is
// unknown.
func configuredPolicy(c config.Config, login, id string) chatguard.Policy {
	if name, ok := roomName(id); ok {
		return ownPart(c, c.PolicyFor(name))
	}
	return ownPart(c, c.PolicyFor(login, id))
}

// ownPart returns this node's part of a policy of a configuration. The policies in force, and those
// on the dashboard, are these parts, so that they agree with what users have left on this node.
func ownPart(c config.Config, p chatguard.Policy) chatguard.Policy {
	part, err := c.Shared.Part(p)
	if err != nil { // a configuration with such a policy isn't loaded; see Shared.CheckParts
		return p
	}
	return part
}

// Resolve returns the policy that a start with the configuration would put in force in a channel
// whose last revision is r. login is empty if it is unknown.
func Resolve(c config.Config, login, id string, r journal.Revision) (live policies.LiveChange, err error) {
	guard, err := chatguard.New(ownPart(c, c.Policy), nil)
	if err != nil {
		return live, err
	}
	return policies.Resolve(id, configuredPolicy(c, login, id), r, inner.Of(guard).ValidateChannelPolicy, func(id string, p chatguard.Policy) error {
		return acceptable(c, id, p)
	}), nil
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

// acceptable refuses a policy that nodes can't share, and a policy of a Twitch
// channel that requires something this bot can't do. A policy of a room may require anything,
// because a server may carry it out.
func acceptable(c config.Config, id string, p chatguard.Policy) error {
	if problem := node.Unshareable(c, p); problem != "" {
		return errors.New(problem)
	}
	if _, isRoom := roomName(id); isRoom || len(c.Twitch.Channels) == 0 {
		return nil
	}
	rung, err := penalties.Check(p.Penalties.Ladder)
	if err == nil {
		return nil
	}
	wrong := &chatguard.PolicyError{Parameter: ladderKey, Problem: "penalties: the ladder " + err.Error()}
	if rung >= 0 {
		wrong.Parameter, wrong.Value = fmt.Sprintf("%s[%d]", ladderKey, rung), p.Penalties.Ladder[rung].String()
	}
	return wrong
}

// discardHint says how to discard a channel's live changes.
func (d *directory) discardHint(id string) string {
	return "run `chatguard policy discard " + d.name(id) + "`"
}

// liveChanges returns a line for each key of a channel's policy that was changed live.
func (d *directory) liveChanges() (lines []string) {
	for _, live := range d.host.Policies.LiveChanges() {
		name := d.name(live.ChannelID)
		if live.Problem != nil {
			lines = append(lines, fmt.Sprintf("#%s: %s", name, unusableRevision(live, name)))
		}
		if live.Unacceptable != nil {
			lines = append(lines, fmt.Sprintf("#%s: only observing: %s", name, live.Unacceptable))
		}
		for _, c := range live.Difference {
			lines = append(lines, fmt.Sprintf("#%s: %s stays %s, changed live by %s (revision %d); the configuration has %s",
				name, c.Key, hostile.Printable(journal.ValueText(c.To)), hostile.Printable(live.Author), live.Number, hostile.Printable(journal.ValueText(c.From))))
		}
	}
	return lines
}

// unusableRevision returns why a channel's live changes aren't in force.
func unusableRevision(live policies.LiveChange, channel string) string {
	return fmt.Sprintf("revision %d by %s can't be used: %s. `chatguard policy discard %s` discards it",
		live.Number, hostile.Printable(live.Author), hostile.Printable(journal.Sentence(live.Problem)), channel)
}

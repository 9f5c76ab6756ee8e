package config

import (
	"cmp"
	"maps"
	"reflect"
	"slices"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
)

// channelTables holds the policies of [channel.NAME], by name.
type channelTables map[string]chatguard.Policy

// channelTable is [channel.NAME]: the settings that a channel may override.
type channelTable struct {
	Timezone  *string              `toml:"timezone"`
	Policy    policyTable          `toml:"policy"`
	Limits    *[]chatguard.Limit   `toml:"limit"`
	Penalties *chatguard.Penalties `toml:"penalties"`
}

// channelTableOf returns the outline of a channel's policy. Setting a value in the outline sets it
// in p.
func channelTableOf(p *chatguard.Policy) reflect.Value {
	return reflect.ValueOf(&channelTable{
		Timezone:  &p.Timezone,
		Policy:    policyTableOf(p),
		Limits:    &p.Limits,
		Penalties: &p.Penalties,
	}).Elem()
}

// Policies returns the policy for all channels, and those of channels with their own table.
func (c *Config) Policies() []chatguard.Policy {
	all := []chatguard.Policy{c.Policy}
	for _, name := range slices.Sorted(maps.Keys(c.Channels)) {
		all = append(all, c.Channels[name])
	}
	return all
}

// PolicyFor returns the policy of the channel with any of the names, which are logins or IDs. If
// the channel has its own table, PolicyFor returns the table's policy, otherwise the policy for all
// channels. If several names have a table, the first name wins.
func (c *Config) PolicyFor(names ...string) chatguard.Policy {
	if own, ok := c.OwnPolicy(names...); ok {
		return own
	}
	return c.Policy.Clone()
}

// OwnPolicy returns the same as PolicyFor for a channel with its own table. For any other channel
// it returns false.
func (c *Config) OwnPolicy(names ...string) (chatguard.Policy, bool) {
	for _, name := range names {
		if own, ok := c.Channels[channelKey(name)]; ok {
			return own.Clone(), true
		}
	}
	return chatguard.Policy{}, false
}

// IsChecked reports whether the policy in Channels with that name is for one of Check.Channels.
func (c *Config) IsChecked(name string) bool {
	return slices.ContainsFunc(c.Check.Channels, func(id string) bool { return channelKey(id) == name })
}

// channelKey returns the canonical form of a channel's name: a login as ChannelName returns it, and
// an ID that is not a valid login unchanged.
func channelKey(name string) string {
	if login, err := ChannelName(name); err == nil {
		return login
	}
	return name
}

// readChannels reads the tables of single channels. Each starts as a copy of the policy for all
// channels, which must be complete by then.
func (r *reader) readChannels(c *Config) error {
	value, ok := r.tree["channel"]
	if !ok {
		return nil
	}
	at := place{"channel"}
	tables, ok := value.(map[string]any)
	if !ok {
		return r.mismatch(at, "a table for each channel, such as [channel.yourchannel]", value)
	}
	c.Channels = map[string]chatguard.Policy{}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		keys, ok := tables[name].(map[string]any)
		key := channelKey(name)
		_, taken := c.Channels[key]
		switch {
		case !ok:
			return r.mismatch(at.child(name), "a channel's table, such as [channel.yourchannel]", tables[name])
		case key == "":
			return r.fail(at.child(name), "want a channel's login or ID, such as [channel.yourchannel]")
		case taken:
			return r.fail(at.child(name), "%q is listed twice", key)
		}
		own, err := r.readChannel(c.Policy, keys, at.child(name))
		if err == nil && !c.IsChecked(key) {
			err = r.checkTwitch(c, own, at.child(name))
		}
		if err != nil {
			return err
		}
		c.Channels[key] = own
	}
	return nil
}

// readChannel reads one channel's table. Its settings override the policy for all channels.
func (r *reader) readChannel(all chatguard.Policy, keys map[string]any, at place) (chatguard.Policy, error) {
	p := all.Clone()
	p.Limits = nil
	if err := r.readTable(channelTableOf(&p), keys, at); err != nil {
		return p, err
	}
	if limits := at.child("limit"); len(p.Limits) == 0 && limits.isIn(r.tree) {
		return p, r.fail(limits, "an empty list removes no limit (to replace a limit, add one of the same name)")
	}
	p.Timezone = cmp.Or(p.Timezone, all.Timezone)
	r.fitExempt(&p, at)
	if err := r.checkPolicy(p, at); err != nil {
		return p, err
	}
	for i, own := range p.Limits {
		if err := r.checkScope(all, own, at.child("limit").child(i)); err != nil {
			return p, err
		}
	}
	p.Limits = replace(all.Clone().Limits, p.Limits)
	if err := p.Validate(); err != nil {
		// The channel's limits and those of all channels are each valid, but were not checked
		// together.
		return p, r.fail(at, "%s", journal.Sentence(err))
	}
	return p, nil
}

// checkScope returns an error if a channel's own limit would count in all channels.
func (r *reader) checkScope(all chatguard.Policy, own chatguard.Limit, at place) error {
	const reason = "per = %q counts in all channels together"
	if inner.InAllChannels(own.Per) {
		return r.fail(at.child("per"), reason+": put the limit at the top, as [[limit]]", own.Per)
	}
	if i := indexOf(all.Limits, own.Name); i >= 0 && inner.InAllChannels(all.Limits[i].Per) {
		return r.fail(at.child("name"), reason+", so no channel can replace that limit: choose another name", all.Limits[i].Per)
	}
	return nil
}

// replace returns the limits combined with own. A limit in own replaces the limit of the same name;
// the others are appended.
func replace(limits, own []chatguard.Limit) []chatguard.Limit {
	for _, l := range own {
		if i := indexOf(limits, l.Name); i >= 0 {
			limits[i] = l
		} else {
			limits = append(limits, l)
		}
	}
	return limits
}

func indexOf(limits []chatguard.Limit, name string) int {
	return slices.IndexFunc(limits, func(l chatguard.Limit) bool { return l.Name == name })
}

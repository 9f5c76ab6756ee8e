package config

import (
	"cmp"
	"maps"
	"reflect"
	"slices"

	"github.com/chatguard/chatguard"
)

// channelTables are the policies of [channel.NAME], by name.
type channelTables map[string]chatguard.Policy

// channelTable is [channel.NAME]: what a channel may have of its own.
type channelTable struct {
	Timezone  *string              `toml:"timezone"`
	Policy    policyTable          `toml:"policy"`
	Limits    *[]chatguard.Limit   `toml:"limit"`
	Penalties *chatguard.Penalties `toml:"penalties"`
}

// channelTableOf returns the outline of a channel's policy: what is set in it is set in p.
func channelTableOf(p *chatguard.Policy) reflect.Value {
	return reflect.ValueOf(&channelTable{
		Timezone:  &p.Timezone,
		Policy:    policyTable{Mode: &p.Mode, Exempt: &p.Exempt},
		Limits:    &p.Limits,
		Penalties: &p.Penalties,
	}).Elem()
}

// PolicyFor returns the policy of the channel that goes by any of the names, its login or its ID: that of its own table where it has one, and
// the one for all channels otherwise. Of two tables the one of the first name counts.
func (c *Config) PolicyFor(names ...string) chatguard.Policy {
	if own, ok := c.OwnPolicy(names...); ok {
		return own
	}
	return c.Policy.Clone()
}

// OwnPolicy returns what PolicyFor does for a channel that has a table of its own, and false for any other.
func (c *Config) OwnPolicy(names ...string) (chatguard.Policy, bool) {
	for _, name := range names {
		if own, ok := c.Channels[channelKey(name)]; ok {
			return own.Clone(), true
		}
	}
	return chatguard.Policy{}, false
}

// IsChecked reports whether the table NAME of Channels is of one of Check.Channels.
func (c *Config) IsChecked(name string) bool {
	return slices.ContainsFunc(c.Check.Channels, func(id string) bool { return channelKey(id) == name })
}

// channelKey is the one spelling of a channel's name: a login as ChannelName returns it, and an ID that can't be a login as it is.
func channelKey(name string) string {
	if login, err := ChannelName(name); err == nil {
		return login
	}
	return name
}

// channels reads the tables of single channels. Each begins as a copy of what holds for all channels, which must be known by then.
func (r *reader) channels(c *Config) error {
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
			return r.mismatch(at.then(name), "a channel's table, such as [channel.yourchannel]", tables[name])
		case key == "":
			return r.fail(at.then(name), "want a channel's login or ID, such as [channel.yourchannel]")
		case taken:
			return r.fail(at.then(name), "%q is there twice", key)
		}
		own, err := r.channel(c.Policy, keys, at.then(name))
		if err != nil {
			return err
		}
		c.Channels[key] = own
	}
	return nil
}

// channel reads one channel's table over the policy for all channels.
func (r *reader) channel(all chatguard.Policy, keys map[string]any, at place) (chatguard.Policy, error) {
	p := all.Clone()
	p.Limits = nil
	if err := r.table(channelTableOf(&p), keys, at); err != nil {
		return p, err
	}
	if limits := at.then("limit"); len(p.Limits) == 0 && limits.isIn(r.tree) {
		return p, r.fail(limits, "an empty list takes no limit away (a limit can be replaced by one of the same name)")
	}
	p.Timezone = cmp.Or(p.Timezone, all.Timezone)
	if err := r.checkPolicy(p, at); err != nil {
		return p, err
	}
	for i, own := range p.Limits {
		if err := r.checkScope(all, own, at.then("limit").then(i)); err != nil {
			return p, err
		}
	}
	p.Limits = replace(all.Clone().Limits, p.Limits)
	if err := p.Validate(); err != nil { // its own limits and those of all channels were checked, but not yet side by side
		return p, r.fail(at, "%v", err)
	}
	return p, nil
}

// checkScope refuses a limit of one channel that would count in all of them.
func (r *reader) checkScope(all chatguard.Policy, own chatguard.Limit, at place) error {
	const reason = `per = "user-everywhere" counts in all channels together`
	if own.Per == chatguard.PerUserEverywhere {
		return r.fail(at.then("per"), "%s: put the limit at the top, as [[limit]]", reason)
	}
	if i := indexOf(all.Limits, own.Name); i >= 0 && all.Limits[i].Per == chatguard.PerUserEverywhere {
		return r.fail(at.then("name"), "%s, so no channel can replace that limit: choose another name", reason)
	}
	return nil
}

// replace returns the limits with each of own in the place of the one of the same name, and the others of own behind.
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

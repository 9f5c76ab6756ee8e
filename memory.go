package chatguard

import "github.com/chatguard/chatguard/internal/limits"

// DefaultMemory is the limit that applies if Options.MaxMemory is 0: 512 MiB.
const DefaultMemory = 512 << 20

// Capacity is approximately how many users a Guard remembers at once. IDs that aren't decimal
// numbers take extra memory and reduce the capacity.
type Capacity struct {
	Users int64 // users of each channel
	// Everywhere is the number of users of all channels together for whom PerUserEverywhere limits
	// are counted. It is 0 if there are no such limits.
	Everywhere int64
}

// Capacity returns how many users a Guard remembers under the policy if maxMemory is its
// Options.MaxMemory. It returns the same errors as Validate.
func (p Policy) Capacity(maxMemory int64) (c Capacity, err error) {
	compiled, err := compile(p)
	if err != nil {
		return c, err
	}
	if maxMemory <= 0 {
		maxMemory = DefaultMemory
	}
	c.Users = compiled.sets[limits.PerUser].UsersIn(maxMemory)
	if everywhere := compiled.sets[limits.PerUserEverywhere]; everywhere != nil {
		c.Everywhere = everywhere.UsersIn(maxMemory)
	}
	return c, nil
}

// MemoryBytes returns approximately how many bytes the given number of users of a channel take
// under the policy. IDs that aren't decimal numbers take somewhat more. It returns the same errors
// as Validate.
func (p Policy) MemoryBytes(users int) (int64, error) {
	c, err := compile(p)
	if err != nil {
		return 0, err
	}
	total := c.sets[limits.PerUser].Bytes(users)
	if everywhere := c.sets[limits.PerUserEverywhere]; everywhere != nil {
		total += everywhere.Bytes(users)
	}
	return total, nil
}

// Memory contains the number of users that a Guard remembers, and the number of users that it has
// removed since it was created.
type Memory struct {
	// Users adds up the users in each channel. If there are PerUserEverywhere limits, it also adds
	// the users that these limits count.
	Users     int
	Bytes     int64 // approximately how much memory they take; see Options.MaxTotalMemory
	Forgotten int64 // users removed because their allowance was fully restored
	Evicted   int64 // users removed because no memory was left; see Options.MaxMemory
	// Held is how many of the Evicted users were throttled, had strikes or grants, or had a change
	// of their day's time zone or reset time in progress.
	Held int64
}

// Memory returns how many users are remembered and how many were removed.
func (g *Guard) Memory() (m Memory) {
	if everywhere := g.channels.everywhere.Load(); everywhere != nil {
		m.Users = everywhere.Users()
	}
	g.channels.forEach(func(c *channel) { m.Users += c.table.Users() })
	m.Bytes = g.channels.budget.Used()
	dropped := g.channels.dropped
	m.Forgotten, m.Evicted, m.Held = dropped.Fresh.Load(), dropped.Evicted.Load(), dropped.Held.Load()
	return m
}

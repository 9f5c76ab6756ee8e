package chatguard

import "github.com/chatguard/chatguard/internal/limits"

// DefaultMemory is used if Options.MaxMemory is 0: 512 MiB.
const DefaultMemory = 512 << 20

// Capacity is approximately how many users a Guard remembers at once. IDs that aren't decimal
// numbers take extra memory and reduce the capacity.
type Capacity struct {
	Users int64 // users of each channel
	// Everywhere is the number of users of all channels together, for limits per user everywhere.
	// It is 0 if there are no such limits.
	Everywhere int64
}

// Capacity returns how many users a Guard with that Options.MaxMemory remembers under the policy.
// The error is Validate's.
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

// MemoryBytes returns approximately how many bytes that many users of a channel take under the
// policy. IDs that aren't decimal numbers take somewhat more. The error is Validate's.
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

// Memory is the number of users a Guard remembers, and how many it has removed since it was
// created.
type Memory struct {
	// Users is the number of users in each channel, plus the number of users in limits per user
	// everywhere.
	Users     int
	Forgotten int64 // their allowance was fully restored
	Evicted   int64 // no memory was left; see Options.MaxMemory
	// Held is how many of the Evicted users were throttled, had strikes or grants, or were changing
	// their day.
	Held int64
}

// Memory returns how many users are remembered and how many were removed.
func (g *Guard) Memory() (m Memory) {
	m.add(g.everywhere.Load())
	g.channels.each(func(c *channel) { m.add(c.table) })
	return m
}

// add adds the users of a table, if there is one.
func (m *Memory) add(table *limits.Table) {
	if table == nil {
		return
	}
	forgotten, evicted, held := table.Dropped()
	m.Users += table.Users()
	m.Forgotten += forgotten
	m.Evicted += evicted
	m.Held += held
}

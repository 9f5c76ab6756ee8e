package chatguard

import "github.com/chatguard/chatguard/internal/limits"

// DefaultMemory is Options.MaxMemory where it is 0: 512 MiB.
const DefaultMemory = 512 << 20

// Capacity is about how many users a Guard remembers at once. IDs that aren't decimal numbers take memory too: with them it is fewer.
type Capacity struct {
	Users      int64 // of each channel
	Everywhere int64 // of all channels together, for limits per user everywhere; 0 without such limits
}

// Capacity returns how many users a Guard with that Options.MaxMemory remembers under the policy. The error is Validate's.
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

// MemoryBytes returns about how many bytes so many users of a channel take under the policy. IDs that
// aren't decimal numbers take some more. The error is Validate's.
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

// Memory is how many users a Guard remembers, and how many it forgot since it was made.
type Memory struct {
	Users     int   // in each channel, and once more where limits count per user everywhere
	Forgotten int64 // because their allowance was whole again
	Evicted   int64 // because there was no memory for more; see Options.MaxMemory
	Held      int64 // of the Evicted: those who were throttled, struck, granted something or changing their day
}

// Memory returns how many users are remembered and were forgotten.
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

package chatguard

import "github.com/chatguard/chatguard/internal/limits"

// Memory is how many users a Guard remembers, and how many it forgot since it was made.
type Memory struct {
	Users     int   // in each channel, and once more where limits count per user everywhere
	Forgotten int64 // because their allowance was whole again
	Evicted   int64 // because there were too many; see Options.MaxUsers
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

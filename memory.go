package chatguard

// Memory is how many users a Guard remembers, and how many it forgot since it was made.
type Memory struct {
	Users     int   // in all channels
	Forgotten int64 // because their allowance was whole again
	Evicted   int64 // because there were too many; see Options.MaxUsers
	Held      int64 // of the Evicted: those who were throttled, struck, granted something or changing their day
}

// Memory returns how many users are remembered and were forgotten.
func (g *Guard) Memory() (m Memory) {
	g.channels.each(func(c *channel) {
		forgotten, evicted, held := c.table.Dropped()
		m.Users += c.table.Users()
		m.Forgotten += forgotten
		m.Evicted += evicted
		m.Held += held
	})
	return m
}

package live

import (
	"slices"
	"time"
)

// watchRaids looks for signs of a raid once per second, and returns the channels in which raid mode
// is proposed.
func (t *tallies) watchRaids(now time.Time) (channels []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, c := range *t.current.Load() {
		if name == "" {
			continue
		}
		last := c.lastSeconds(int(busyOver / time.Second))
		c.raid.look(now, recentChat{last.messages, last.suspicious, last.people}, func() uint64 { return t.usual(c) })
		if c.raid.proposed.Load() != nil {
			channels = append(channels, name)
		}
	}
	return channels
}

// answerRaid ends the proposal of raid mode in a channel. It isn't proposed again before the
// channel has looked calm.
func (t *tallies) answerRaid(channel string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := &(*t.current.Load())[channel].raid
	w.answered = true
	w.propose()
}

// raidSigns returns why raid mode is proposed in a channel, or nil if it isn't. It takes no lock.
func (t *tallies) raidSigns(channel string) *RaidSigns {
	if c := (*t.current.Load())[channel]; c != nil {
		return c.raid.proposed.Load()
	}
	return nil
}

// The usual number of messages is the median of the last usualMinutes whole minutes. If fewer than
// usualKnown of them are known, it is unknown.
const (
	usualMinutes = 30
	usualKnown   = 5
)

// usual returns the usual number of messages of a channel within busyOver. It is 0 if it is
// unknown. The caller holds mu.
func (t *tallies) usual(of *tally) uint64 {
	c := t.calendars[minutes]
	counts := make([]uint32, 0, usualMinutes)
	for step := c.now - usualMinutes; step < c.now; step++ {
		if place := c.place(step); c.known[place] {
			counts = append(counts, of.history[minutes][place].messages)
		}
	}
	if len(counts) < usualKnown {
		return 0
	}
	slices.Sort(counts)
	return uint64(counts[len(counts)/2]) * uint64(busyOver) / uint64(time.Minute)
}

package live

import (
	"sync/atomic"
	"time"
)

// RaidSigns says why a channel looks raided. The numbers are those of the busiest 10 seconds so
// far.
type RaidSigns struct {
	Since    time.Time `json:"since"`
	Messages uint64    `json:"messages"`
	// Times is Messages as a multiple of the usual number. It is 0 if there is no usual number.
	Times uint64 `json:"times,omitzero"`
	// Suspicious is how many of them are by users who wrote here for the first time, or were
	// throttled, in the one to two minutes before.
	Suspicious uint64 `json:"suspicious"`
}

// A channel looks raided if, within busyOver, it had raidMessages messages and raidTimes the usual
// number, half of them by suspects, of whom raidPeople have become suspects in that time. It looks
// raided until it has had less than half of that for raidCalm seconds.
const (
	raidMessages = 30
	raidTimes    = 3
	raidPeople   = 15
	raidCalm     = 30
)

// raidWatch decides whether a channel looks raided. The tallies' mutex guards it, except for
// proposed.
type raidWatch struct {
	signs    *RaidSigns // nil if the channel doesn't look raided; never modified, only replaced
	answered bool       // raid mode or a pause was on since the signs began
	calm     int        // how many seconds in a row had less than half of what begins a raid
	proposed atomic.Pointer[RaidSigns]
}

// recentChat is what was written within busyOver: messages, those of suspects, and how many users
// have become suspects.
type recentChat struct{ messages, suspicious, people uint64 }

// look looks at the recent chat once per second. usual returns the usual number of messages in that
// time; 0 means that there is none.
func (w *raidWatch) look(now time.Time, c recentChat, usual func() uint64) {
	if w.signs == nil && (c.messages < raidMessages || c.people < raidPeople || 2*c.suspicious < c.messages) {
		return
	}
	often := usual()
	needed := max(raidMessages, raidTimes*often)
	switch {
	case w.signs == nil && c.messages < needed:
		return
	case w.signs == nil:
		w.signs, w.answered, w.calm = &RaidSigns{Since: now.UTC()}, false, 0
	case 2*c.messages >= needed && 4*c.suspicious >= c.messages:
		w.calm = 0
	default:
		w.calm++
	}
	if c.messages > w.signs.Messages {
		w.signs = &RaidSigns{Since: w.signs.Since, Messages: c.messages, Suspicious: c.suspicious}
		if often > 0 {
			w.signs.Times = c.messages / often
		}
	}
	if w.calm == raidCalm {
		w.signs = nil
	}
	w.propose()
}

func (w *raidWatch) propose() {
	if w.answered {
		w.proposed.Store(nil)
	} else {
		w.proposed.Store(w.signs)
	}
}

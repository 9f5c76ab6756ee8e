package faketwitch

import (
	"strings"
	"time"
)

// slowMode is the minimum time between two messages of an ordinary user. The zero value is off. The
// Server's mu guards it.
type slowMode struct {
	wait  time.Duration
	spoke map[string]time.Time // time of the last message since slow mode was turned on, by user ID
}

// allows reports whether a user may write now. If so, it records the message. Slow mode does not
// apply to moderators, the broadcaster and VIPs.
func (m *slowMode) allows(userID, badges string, now time.Time) bool {
	if m.wait == 0 || isStaff(badges) || strings.Contains(","+badges, ",vip/") {
		return true
	}
	if last, ok := m.spoke[userID]; ok && now.Sub(last) < m.wait {
		return false
	}
	m.spoke[userID] = now
	return true
}

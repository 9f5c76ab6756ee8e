package chat

import (
	"strings"

	"github.com/chatguard/chatguard"
)

// repeats are the IDs of messages that were seen of late: a chat hands a message over twice after a reconnect, say. The zero value is empty.
type repeats struct {
	recent, before map[string]bool // recent fills up, then takes the place of before
}

// maxRepeats is how many IDs are remembered, at least.
const maxRepeats = 1 << 15

// again reports whether the message was seen before. One without an ID never was.
func (r *repeats) again(m *chatguard.Message) bool {
	if m.ID == "" {
		return false
	}
	if r.recent[m.ID] || r.before[m.ID] {
		return true
	}
	if len(r.recent) >= maxRepeats || r.recent == nil {
		r.recent, r.before = make(map[string]bool, len(r.recent)), r.recent
	}
	r.recent[strings.Clone(m.ID)] = true // the ID's memory may be a whole line's
	return false
}

package chat

import (
	"time"

	"github.com/chatguard/chatguard"
)

// removals are what somebody removed of late, for messages that are judged only after they are gone. The zero value is empty.
type removals struct {
	recent, before map[gone]removal // recent fills up, then takes the place of before
}

// gone is what was removed: a message, all of a user's, or, without either, all of a channel's.
type gone struct{ channelID, userID, messageID string }

// removal is when something was removed, and what to say of it.
type removal struct {
	at     time.Time
	reason string
}

// maxRemovals is how many are remembered, at least.
const maxRemovals = 4096

// note remembers a removal, and returns what to say of the messages that it took.
func (s *removals) note(r Removal) string {
	if len(s.recent) >= maxRemovals || s.recent == nil {
		s.recent, s.before = map[gone]removal{}, s.recent
	}
	key := gone{r.ChannelID, r.UserID, r.MessageID}
	if r.MessageID != "" {
		key.userID = "" // the ID is enough, and not every platform tells the user
	}
	s.recent[key] = removal{r.At, r.reason()}
	return s.recent[key].reason
}

// reason says why a message is gone.
func (r *Removal) reason() string {
	reason := "already gone: the chat was cleared"
	switch {
	case r.MessageID != "":
		reason = "already removed"
	case r.UserID != "" && r.Banned:
		reason = "already gone: its author was banned"
	case r.UserID != "":
		reason = "already gone: its author was timed out"
	}
	if r.By != "" {
		reason += " by " + r.By
	}
	return reason
}

// of returns what to say of a message that is gone already; nothing where it isn't. What a user wrote after everything of theirs was removed is
// still there.
func (s *removals) of(m *chatguard.Message) string {
	for _, key := range [...]gone{{m.ChannelID, "", m.ID}, {m.ChannelID, m.User.ID, ""}, {m.ChannelID, "", ""}} {
		for _, known := range [...]map[gone]removal{s.recent, s.before} {
			if r, ok := known[key]; ok && (key.messageID != "" || !m.SentAt.After(r.at)) {
				return r.reason
			}
		}
	}
	return ""
}

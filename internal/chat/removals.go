package chat

import (
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/recent"
)

// removals holds recent removals, because somebody may remove a message before it is judged.
type removals struct {
	lately recent.Map[removalKey, removal]
}

// removalKey names what was removed: a message, all of a user's messages, or, without either ID,
// all of a channel's.
type removalKey struct{ channelID, userID, messageID string }

// removal is the time of a removal and the reason to record for it.
type removal struct {
	at     time.Time
	reason string
}

// maxRemovals is the minimum number of removals that are remembered.
const maxRemovals = 4096

// note records a removal and returns the reason for the messages it removed.
func (s *removals) note(r Removal) string {
	key := removalKey{r.ChannelID, r.UserID, r.MessageID}
	if r.MessageID != "" {
		key.userID = "" // the message ID suffices; user may be unknown
	}
	reason := r.reason()
	s.lately.Set(key, removal{r.At, reason}, r.At)
	return reason
}

// reason returns why a message is gone.
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

// reasonFor returns why a message is already gone, or "" if it isn't. If all messages of a user or
// a channel were removed, messages sent later are not gone.
func (s *removals) reasonFor(m *chatguard.Message) string {
	for _, key := range [...]removalKey{{m.ChannelID, "", m.ID}, {m.ChannelID, m.User.ID, ""}, {m.ChannelID, "", ""}} {
		if r, ok := s.lately.Get(key); ok && (key.messageID != "" || !m.SentAt.After(r.at)) {
			return r.reason
		}
	}
	return ""
}

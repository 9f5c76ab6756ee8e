package twitchsignin

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
)

// suspectEvery is the minimum time between two questions about a person because of their messages.
// Twitch's answers may lag behind the badges, or the badges behind the answers.
const suspectEvery = time.Minute

// Watch returns a chat source that also tells SignIns what it reads: the badges of signed-in people
// and their bans show that their standing has changed.
func (s *SignIns) Watch(source chat.Source) chat.Source { return watched{source, s} }

// watched is a chat source whose messages and removals SignIns sees first.
type watched struct {
	chat.Source
	signIns *SignIns
}

// Run implements chat.Source.
func (w watched) Run(ctx context.Context, sink chat.Sink) error {
	return w.Source.Run(ctx, watchingSink{sink, w.signIns})
}

type watchingSink struct {
	chat.Sink
	signIns *SignIns
}

// Messages implements chat.Sink.
func (w watchingSink) Messages(read time.Time, messages []chatguard.Message) {
	people := *w.signIns.members.people.Load()
	if len(people) > 0 {
		for i := range messages {
			if people[messages[i].User.ID] {
				w.signIns.noteBadges(&messages[i])
			}
		}
	}
	w.Sink.Messages(read, messages)
}

// Removed implements chat.Sink.
func (w watchingSink) Removed(r chat.Removal) {
	if r.MessageID == "" && r.UserID != "" {
		w.signIns.NoteChange(r.ChannelID, r.UserID)
	}
	w.Sink.Removed(r)
}

// noteBadges compares the badges of a message with what is known about its author.
func (s *SignIns) noteBadges(m *chatguard.Message) {
	if m.SourceChannelID != "" && m.SourceChannelID != m.ChannelID {
		return // the badges are those of another channel
	}
	staff := m.User.Roles.Has(chatguard.Broadcaster) || m.User.Roles.Has(chatguard.Moderator) || m.User.Roles.Has(chatguard.LeadModerator)
	now := s.now()
	s.suspect(m.User.ID, now, func(of *session) bool {
		return staff != (of.channels[m.ChannelID] != 0) && now.Sub(of.confirmed) >= suspectEvery
	})
}

// NoteChange records that the standing of a user in a channel may have changed: they became a
// moderator or are no longer one, or were banned or timed out. Twitch is asked before the user uses
// a right again.
func (s *SignIns) NoteChange(channelID, userID string) {
	if _, served := s.opts.Channels()[channelID]; !served || !(*s.members.people.Load())[userID] {
		return
	}
	s.suspect(userID, s.now(), func(*session) bool { return true })
}

// noteServed makes everyone due if other channels are served than before or other owners are named,
// because everyone's rights may have changed. The caller holds mu.
func (m *members) noteServed(channels map[string]string, owners []string, now time.Time) {
	if maps.Equal(channels, m.served) && slices.Equal(owners, m.owners) {
		return
	}
	m.served, m.owners = channels, owners
	for _, of := range m.sessions {
		of.due = now
	}
}

// suspect marks those sessions of a user that which selects.
func (s *SignIns) suspect(userID string, now time.Time, which func(*session) bool) {
	s.members.mu.Lock()
	defer s.members.mu.Unlock()
	for _, of := range s.members.sessions {
		if of.account.ID != userID || !which(of) {
			continue
		}
		of.changed = now
		if of.suspected.IsZero() {
			of.suspected = now
		}
	}
}

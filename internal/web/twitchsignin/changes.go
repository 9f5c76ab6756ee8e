package twitchsignin

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/roles"
)

// suspectEvery is the minimum time between two requests to Twitch that the messages of one person
// cause. Twitch's answers may lag behind the badges, or the badges behind the answers.
const suspectEvery = time.Minute

// Watch returns a chat source that also notifies Members of what it reads. The badges and bans of
// signed-in people show that their standing has changed.
func (m *Members) Watch(source chat.Source) chat.Source { return watched{source, m} }

// watched is a chat source whose messages and removals Members sees first.
type watched struct {
	chat.Source
	members *Members
}

// Run implements chat.Source.
func (w watched) Run(ctx context.Context, sink chat.Sink) error {
	return w.Source.Run(ctx, watchingSink{sink, w.members})
}

type watchingSink struct {
	chat.Sink
	members *Members
}

// Messages implements chat.Sink.
func (w watchingSink) Messages(read time.Time, messages []chat.Message) {
	people := *w.members.people.Load()
	if len(people) > 0 {
		for i := range messages {
			if people[messages[i].User.ID] {
				w.members.noteBadges(&messages[i])
			}
		}
	}
	w.Sink.Messages(read, messages)
}

// Removed implements chat.Sink.
func (w watchingSink) Removed(r chat.Removal) {
	if r.MessageID == "" && r.UserID != "" {
		w.members.NoteChange(r.ChannelID, r.UserID)
	}
	w.Sink.Removed(r)
}

// noteBadges compares the badges of a message with what is known about its author.
func (m *Members) noteBadges(message *chat.Message) {
	if message.Mirrored() {
		return // the badges are those of another channel
	}
	staff := roles.Moderate(message.User.Roles)
	now := m.opts.now()
	m.suspect(message.User.ID, now, func(of *session) bool {
		return staff != (of.channels[message.ChannelID] != 0) && now.Sub(of.confirmed) >= suspectEvery
	})
}

// NoteChange records that the standing of a user in a channel may have changed: they became a
// moderator or are no longer one, or were banned or timed out. Twitch is asked before the user uses
// a right again.
func (m *Members) NoteChange(channelID, userID string) {
	if _, served := m.opts.Channels()[channelID]; !served || !(*m.people.Load())[userID] {
		return
	}
	m.suspect(userID, m.opts.now(), func(*session) bool { return true })
}

// noteServed makes everyone due for a check if the served channels or the named owners have
// changed, because everyone's rights may have changed. The caller holds mu.
func (m *Members) noteServed(channels map[string]string, owners []string, now time.Time) {
	if maps.Equal(channels, m.served) && slices.Equal(owners, m.owners) {
		return
	}
	m.served, m.owners = channels, owners
	for _, of := range m.sessions {
		of.due = now
	}
}

// suspect marks those sessions of a user for which the parameter which returns true.
func (m *Members) suspect(userID string, now time.Time, which func(*session) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, of := range m.sessions {
		if of.account.ID != userID || !which(of) {
			continue
		}
		of.changed = now
		if of.suspected.IsZero() {
			of.suspected = now
		}
	}
}

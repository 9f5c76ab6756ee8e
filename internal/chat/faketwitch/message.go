package faketwitch

import (
	"fmt"
	"slices"
	"time"
)

// keep is how many messages, requests and lines of each kind the server remembers. It forgets older
// ones, so that it can run for days.
const keep = 100_000

// Message is a message in the server's record.
type Message struct {
	ID        string
	ChannelID string
	UserID    string
	Login     string
	Text      string
	SentAt    time.Time
	// WrittenAt is when the message was sent to the clients; zero if it was only rendered.
	WrittenAt time.Time

	ofStaff bool
	parent  parentMessage
}

// parentMessage is the message that a reply answers. Its ID is empty if the message is no reply.
type parentMessage struct {
	author   account
	id, text string
}

// chatLog holds the visible messages, oldest first. The Server's mu guards it.
type chatLog struct {
	said  int // total number of messages
	order []*Message
	byID  map[string]*Message
}

// add records a message and assigns its ID.
func (l *chatLog) add(m Message) *Message {
	if l.byID == nil {
		l.byID = make(map[string]*Message)
	}
	l.said++
	m.ID = fmt.Sprintf("fa4e7817-c000-4000-8000-%012x", l.said)
	if len(l.order) >= 2*keep {
		for _, old := range l.order[:keep] {
			delete(l.byID, old.ID)
		}
		l.order = slices.Clone(l.order[keep:])
	}
	l.order = append(l.order, &m)
	l.byID[m.ID] = &m
	return &m
}

func (l *chatLog) setWrittenAt(id string, at time.Time) {
	if m := l.byID[id]; m != nil {
		m.WrittenAt = at
	}
}

// remove removes the messages for which gone returns true.
func (l *chatLog) remove(gone func(*Message) bool) {
	l.order = slices.DeleteFunc(l.order, func(m *Message) bool {
		if !gone(m) {
			return false
		}
		delete(l.byID, m.ID)
		return true
	})
}

// removeID removes one message. It searches from the end, because deleted messages are usually
// recent.
func (l *chatLog) removeID(id string) {
	for i := len(l.order) - 1; i >= 0; i-- {
		if l.order[i].ID == id {
			l.order = slices.Delete(l.order, i, i+1)
			break
		}
	}
	delete(l.byID, id)
}

// Messages returns the visible messages in the channel with this ID, oldest first. Messages that
// were deleted, cleared or purged with their author aren't included.
func (s *state) Messages(channelID string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var seen []Message
	for _, m := range s.chat.order {
		if m.ChannelID == channelID {
			seen = append(seen, *m)
		}
	}
	return seen
}

// Message returns the message with this ID while it is visible.
func (s *state) Message(id string) (Message, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, ok := s.chat.byID[id]
	if !ok {
		return Message{}, false
	}
	return *m, true
}

// Said returns how many messages were said or rendered since the start.
func (s *state) Said() int { return read(s, &s.chat.said) }

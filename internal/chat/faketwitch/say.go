package faketwitch

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// The reasons for which a line isn't said.
var (
	ErrNoChannel = errors.New("fake twitch: no such channel")
	ErrSilenced  = errors.New("fake twitch: the user is banned or timed out")
	ErrWarned    = errors.New("fake twitch: the user was warned, and has to acknowledge that")
	ErrSlow      = errors.New("fake twitch: slow mode is on, and the user has spoken a moment ago")
)

// Line is something that a user says in a channel. Channel, Login and Text are required.
type Line struct {
	Channel     string    // login of the channel
	Login       string    // of the author
	DisplayName string    // of the author; what they were last called, or their login, when empty
	UserID      string    // of the author; given out by the server when empty
	Badges      string    // as in the tag: "moderator/1,subscriber/12"
	Text        string    //
	First       bool      // the author's first message in this channel
	Source      string    // ID of the channel it was written in, where that is another one (Shared Chat)
	SentAt      time.Time // now when zero
}

// Say lets a user say something: it is recorded, and sent to all who joined the channel. It returns the message's ID.
// Say waits while a client doesn't read.
func (s *Server) Say(l Line) (id string, err error) {
	id, raw, err := s.Render(l)
	if err != nil {
		return "", err
	}
	s.spread(l, id, raw)
	return id, nil
}

// Render does everything that Say does but send: it returns the message's ID and its line, without line end. With Flood it makes a fast path:
// render first, then send many lines at once.
func (s *Server) Render(l Line) (id, raw string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.take(l)
}

// take takes a line in, and returns its message's ID and how it is written. The caller holds mu.
func (s *Server) take(l Line) (id, raw string, err error) {
	c := s.channels[l.Channel]
	if c == nil {
		return "", "", fmt.Errorf("%w: %q", ErrNoChannel, l.Channel)
	}
	now := s.opts.Now()
	if l.SentAt.IsZero() {
		l.SentAt = now
	}
	author := s.author(l)
	if c.silenced[author.id].at(now) {
		return "", "", fmt.Errorf("%w: %s in %s", ErrSilenced, author.login, c.login)
	}
	if c.warned[author.id] {
		return "", "", fmt.Errorf("%w: %s in %s", ErrWarned, author.login, c.login)
	}
	if !c.slow.allows(author.id, l.Badges, now) {
		return "", "", fmt.Errorf("%w: %s in %s", ErrSlow, author.login, c.login)
	}
	if isStaff(l.Badges) {
		c.staff[author.id] = true
	}
	m := s.chat.add(Message{ChannelID: c.id, UserID: author.id, Login: author.login, Text: l.Text, SentAt: l.SentAt, ofStaff: isStaff(l.Badges)})
	return m.ID, render(l, m, author), nil
}

// render writes a message the way Twitch does.
func render(l Line, m *Message, author account) string {
	tags := []string{
		"badge-info=", "badges=" + l.Badges, "color=#5B8DEF", "display-name=" + escape(author.displayName), "emotes=",
		"first-msg=" + bit(l.First), "flags=", "id=" + m.ID, "mod=" + bit(strings.Contains(","+l.Badges, ",moderator/")),
		"returning-chatter=0", "room-id=" + m.ChannelID,
	}
	if l.Source != "" {
		tags = append(tags, "source-badges="+l.Badges, "source-id=source-of-"+m.ID, "source-room-id="+l.Source)
	}
	tags = append(tags,
		"subscriber="+bit(strings.Contains(","+l.Badges, ",subscriber/")), fmt.Sprintf("tmi-sent-ts=%d", m.SentAt.UnixMilli()),
		"turbo=0", "user-id="+m.UserID, "user-type=")
	return fmt.Sprintf("@%s :%[2]s!%[2]s@%[2]s.tmi.twitch.tv PRIVMSG #%s :%s", strings.Join(tags, ";"), m.Login, l.Channel, m.Text)
}

var tagEscapes = strings.NewReplacer(`\`, `\\`, ";", `\:`, " ", `\s`, "\r", `\r`, "\n", `\n`)

func escape(value string) string { return tagEscapes.Replace(value) }

func bit(on bool) string {
	if on {
		return "1"
	}
	return "0"
}

// spread delivers a message to all who read its channel.
func (s *Server) spread(l Line, id, raw string) {
	event := s.messageEvent(l, id)
	s.dispatch(func() {
		s.mu.Lock()
		s.chat.written(id, s.opts.Now())
		s.mu.Unlock()
		s.write(l.Channel, raw)
		s.notify(event)
	})
}

// write sends a line to all who joined the channel.
func (s *Server) write(channelLogin, raw string) {
	s.mu.Lock()
	tagged, plain := s.readers(channelLogin)
	s.mu.Unlock()
	for _, c := range tagged {
		c.send(raw)
	}
	_, untagged, _ := strings.Cut(raw, " ")
	for _, c := range plain {
		c.send(untagged)
	}
}

// Flood sends bytes as they are to every client that is logged in: lines, parts of lines, or anything else. It waits while a client doesn't read.
func (s *Server) Flood(raw []byte) {
	s.mu.Lock()
	var all []*client
	for c := range s.clients {
		if c.login != "" {
			all = append(all, c)
		}
	}
	s.mu.Unlock()
	for _, c := range all {
		c.write(raw)
	}
}

// SendRaw sends lines as they are to every client that is logged in.
func (s *Server) SendRaw(lines ...string) {
	s.Flood([]byte(strings.Join(lines, "\r\n") + "\r\n"))
}

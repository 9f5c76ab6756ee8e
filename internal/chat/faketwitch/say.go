package faketwitch

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// The reasons why a line isn't sent.
var (
	ErrNoChannel = errors.New("fake twitch: no such channel")
	ErrSilenced  = errors.New("fake twitch: the user is banned or timed out")
	ErrWarned    = errors.New("fake twitch: the user was warned, and has to acknowledge that")
	ErrSlow      = errors.New("fake twitch: slow mode is on, and the user has spoken a moment ago")
)

// Line is a message from a user to a channel. Channel, Login and Text are required.
type Line struct {
	Channel string // login of the channel
	Login   string // of the author
	// DisplayName is the author's; empty means the last one used, or the login.
	DisplayName string
	UserID      string // the author's; empty lets the server choose
	Badges      string // as in the tag: "moderator/1,subscriber/12"
	Text        string // of the message
	// Kind is what distinguishes the message from an ordinary one, as "bits" or "resub"; see
	// messageKinds. A notice may have no text.
	Kind  string
	First bool // the author's first message in this channel
	// Source is the ID of the channel in which the message was written, if that is another channel
	// (Shared Chat).
	Source string
	SentAt time.Time // zero means now
	// ReplyTo is the ID of a visible message that this one answers. The server puts the name of its
	// author in front of the text.
	ReplyTo string
}

// Say sends a message from a user: it is recorded and sent to all clients in the channel. It
// returns the message's ID. Say blocks while a client doesn't read.
func (s *Server) Say(l Line) (id string, err error) {
	id, raw, err := s.Render(l)
	if err != nil {
		return "", err
	}
	s.spread(l, id, raw)
	return id, nil
}

// Render is like Say but doesn't send the message. It returns the message's ID and its line,
// without a line ending. Use it with Flood for speed: render first, then send many lines at once.
func (s *Server) Render(l Line) (id, raw string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.take(l)
}

// take records a line and returns its message's ID and its raw form. The caller holds mu.
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
	if c.silenced[author.id].isInForce(now) {
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
	m := Message{ChannelID: c.id, UserID: author.id, Login: author.login, Text: l.Text, SentAt: l.SentAt, ofStaff: isStaff(l.Badges)}
	if parent := s.chat.byID[l.ReplyTo]; parent != nil {
		m.parent = parentMessage{*s.account(parent.Login), parent.ID, parent.Text}
		m.Text = "@" + m.parent.author.displayName + " " + m.Text
	}
	added := s.chat.add(m)
	return added.ID, render(l, added, author), nil
}

// render formats a message as Twitch does.
func render(l Line, m *Message, author account) string {
	tags := []string{
		"badge-info=", "badges=" + l.Badges, "color=" + author.color(), "display-name=" + escape(author.displayName), "emotes=",
		"first-msg=" + bit(l.First), "flags=", "id=" + m.ID, "mod=" + bit(strings.Contains(","+l.Badges, ",moderator/")),
		"returning-chatter=0", "room-id=" + m.ChannelID,
	}
	if l.Source != "" {
		tags = append(tags, "source-badges="+l.Badges, "source-id=source-of-"+m.ID, "source-room-id="+l.Source)
	}
	if parent := m.parent; parent.id != "" {
		tags = append(tags, "reply-parent-display-name="+escape(parent.author.displayName), "reply-parent-msg-body="+escape(parent.text),
			"reply-parent-msg-id="+parent.id, "reply-parent-user-id="+parent.author.id, "reply-parent-user-login="+parent.author.login)
	}
	tags = append(tags,
		"subscriber="+bit(strings.Contains(","+l.Badges, ",subscriber/")), fmt.Sprintf("tmi-sent-ts=%d", m.SentAt.UnixMilli()),
		"turbo=0", "user-id="+m.UserID, "user-type=")
	kind := messageKinds[l.Kind]
	if tags = append(tags, kind.tags...); !kind.isNotice {
		return fmt.Sprintf("@%s :%[2]s!%[2]s@%[2]s.tmi.twitch.tv PRIVMSG #%s :%s", strings.Join(tags, ";"), m.Login, l.Channel, m.Text)
	}
	line := fmt.Sprintf("@%s;login=%s :tmi.twitch.tv USERNOTICE #%s", strings.Join(tags, ";"), m.Login, l.Channel)
	if m.Text != "" {
		line += " :" + m.Text
	}
	return line
}

var tagEscapes = strings.NewReplacer(`\`, `\\`, ";", `\:`, " ", `\s`, "\r", `\r`, "\n", `\n`)

func escape(value string) string { return tagEscapes.Replace(value) }

func bit(on bool) string {
	if on {
		return "1"
	}
	return "0"
}

// spread delivers a message to all readers of its channel.
func (s *Server) spread(l Line, id, raw string) {
	event := s.messageEvent(l, id)
	s.dispatch(func() {
		s.mu.Lock()
		s.chat.setWrittenAt(id, s.opts.Now())
		s.mu.Unlock()
		s.write(l.Channel, raw)
		s.notify(event)
	})
}

// write sends a line to all clients in the channel.
func (s *chatServer) write(channelLogin, raw string) {
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

// Flood sends raw bytes to every logged-in client: lines, parts of lines, or anything else. It
// blocks while a client doesn't read.
func (s *chatServer) Flood(raw []byte) {
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

// SendRaw sends raw lines to every logged-in client.
func (s *chatServer) SendRaw(lines ...string) {
	s.Flood([]byte(strings.Join(lines, "\r\n") + "\r\n"))
}

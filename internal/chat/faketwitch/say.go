package faketwitch

import (
	"errors"
	"fmt"
)

// The reasons why a line isn't sent.
var (
	ErrNoChannel = errors.New("fake twitch: no such channel")
	ErrSilenced  = errors.New("fake twitch: the user is banned or timed out")
	ErrWarned    = errors.New("fake twitch: the user was warned, and has to acknowledge that")
	ErrSlow      = errors.New("fake twitch: slow mode is on, and the user has spoken a moment ago")
	ErrMode      = errors.New("fake twitch: the chat's modes don't allow this message")
)

// Say sends a message from a user: it is recorded and sent to all clients in the channel. It
// returns the message's ID. Say blocks while a client doesn't read.
func (d *delivery) Say(l Line) (id string, err error) {
	id, raw, err := d.Render(l)
	if err != nil {
		return "", err
	}
	d.spread(l, id, raw)
	return id, nil
}

// Render is like Say but doesn't send the message. It returns the message's ID and its line,
// without a line ending. Use it with Flood for speed: render first, then send many lines at once.
func (s *state) Render(l Line) (id, raw string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.take(l)
}

// take records a line and returns its message's ID and its raw form. The caller holds mu.
func (s *state) take(l Line) (id, raw string, err error) {
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
	if !c.modes.allowsText(l.Badges, l.Text) {
		return "", "", fmt.Errorf("%w: %s in %s", ErrMode, author.login, c.login)
	}
	if !c.modes.slow.allows(author.id, l.Badges, now) {
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

// spread delivers a message to all readers of its channel.
func (d *delivery) spread(l Line, id, raw string) {
	event := d.events.messageEvent(l, id)
	d.dispatch(func() {
		d.mu.Lock()
		d.chat.setWrittenAt(id, d.opts.Now())
		d.mu.Unlock()
		d.irc.write(l.Channel, raw)
		d.events.notify(event)
	})
}

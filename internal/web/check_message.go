package web

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/sendtime"
)

const (
	maxMessageText = 8192 // bytes of a message's text, of which throttled ones keep the beginning
	maxCost        = math.MaxInt32
)

// checkedMessage is what POST /check is sent, for the API's description; checkReader reads it.
type checkedMessage struct {
	Channel     string          `json:"channel" jsonschema:"The ID of the room, of up to 250 bytes. Limits count in each channel by itself."`
	UserID      string          `json:"user_id" jsonschema:"Who wrote it, in up to 250 bytes: what stays the same for as long as the account lives."`
	ID          string          `json:"id,omitempty" jsonschema:"The message's ID, for the journal, in up to 256 bytes."`
	Login       string          `json:"login,omitempty" jsonschema:"The author's name, for the dashboard, in up to 200 bytes."`
	DisplayName string          `json:"display_name,omitempty" jsonschema:"The name as shown, in up to 200 bytes."`
	Roles       chatguard.Roles `json:"roles,omitempty" jsonschema:"What the author is in this channel."`
	Text        string          `json:"text,omitempty" jsonschema:"For the journal, in up to 8192 bytes: limits don't read it."`
	Cost        int             `json:"cost,omitempty" jsonschema:"How many messages it counts as; left out, 1."`
	At          checkedTime     `json:"at,omitzero" jsonschema:"When it was sent: RFC 3339, or milliseconds since 1970. Else, or over a minute ago, now."`
}

// checkedTime is a time in either of the forms that it may have.
type checkedTime any

// checkedBatch is what POST /check/batch is sent.
type checkedBatch struct {
	Messages []checkedMessage `json:"messages" jsonschema:"Up to 1000, which are judged in their order."`
}

// checkReader reads messages to be judged. Its errors name the key in the request's words.
type checkReader struct {
	scan
	now   time.Time
	space string // of the IDs; see Options.CheckSpace
	index int    // of the message in its batch; -1 where there is none
}

// batch reads the messages of a batch.
func (c *checkReader) batch(into *[]chatguard.Message) error {
	found := false
	err := c.object(func(key []byte) error {
		switch {
		case string(key) != "messages":
			return unknownKey(string(key), "messages")
		case c.null():
			return nil
		}
		found = true
		return c.list(func() error {
			if c.index++; c.index == mostChecked {
				return refuse(http.StatusUnprocessableEntity, "A batch has at most %d messages: send the others in another one.", mostChecked)
			}
			*into = append(*into, chatguard.Message{})
			return c.message(&(*into)[c.index])
		})
	})
	if err == nil && !found {
		return refuse(http.StatusUnprocessableEntity, "messages is missing: a list of messages, each as POST /check takes it.")
	}
	return err
}

// message reads a message that can be judged.
func (c *checkReader) message(m *chatguard.Message) error {
	if c.index >= 0 && c.next() != '{' {
		return fmt.Errorf("messages[%d]: %w", c.index, c.wants("an object"))
	}
	m.Cost = 1
	err := c.object(func(key []byte) error {
		err := c.value(key, m)
		if err != nil && !errors.As(err, new(*problem)) {
			err = fmt.Errorf("%s: %w", c.path(string(key)), err)
		}
		return err
	})
	if err != nil {
		return err
	}
	m.SentAt = sendtime.Bounded(m.SentAt, c.now)
	return c.holds(m)
}

// value reads the value of one key. As null it is left out.
func (c *checkReader) value(key []byte, m *chatguard.Message) error {
	switch string(key) {
	case "channel":
		return c.id(&m.ChannelID)
	case "user_id":
		return c.id(&m.User.ID)
	case "id":
		return c.string(&m.ID)
	case "login":
		return c.string(&m.User.Login)
	case "display_name":
		return c.string(&m.User.DisplayName)
	case "text":
		return c.string(&m.Text)
	case "roles":
		return c.roles(&m.User.Roles)
	case "cost":
		return c.cost(&m.Cost)
	case "at":
		return c.time(&m.SentAt)
	}
	return unknownKey(c.path(string(key)), "channel, user_id, id, login, display_name, roles, text, cost, at")
}

func (c *checkReader) string(into *string) error {
	if c.null() {
		return nil
	}
	text, err := c.text()
	*into = string(text)
	return err
}

// id reads the ID of a channel or user, and puts it into the space. An empty one stays empty.
func (c *checkReader) id(into *string) error {
	if c.null() {
		return nil
	}
	text, err := c.text()
	if len(text) > 0 {
		*into = c.space + string(text)
	}
	return err
}

func (c *checkReader) roles(into *chatguard.Roles) error {
	if c.null() {
		return nil
	}
	*into = 0
	return c.list(func() error {
		name, err := c.text()
		if err != nil {
			return err
		}
		var role chatguard.Role
		if err := role.UnmarshalText(name); err != nil {
			return err
		}
		*into |= chatguard.RolesOf(role)
		return nil
	})
}

func (c *checkReader) cost(into *int) (err error) {
	if c.null() {
		return nil
	}
	*into, err = c.whole()
	return err
}

func (c *checkReader) time(into *time.Time) error {
	if c.null() {
		return nil
	}
	written, err := c.raw()
	if err == nil {
		*into, err = sendtime.Parse(written)
	}
	return err
}

// holds returns the problem of a message that can't be judged, or whose texts can't be kept.
func (c *checkReader) holds(m *chatguard.Message) error {
	switch {
	case m.ChannelID == "":
		return c.fail("channel", "is missing: the ID of the room that the message is for")
	case m.User.ID == "":
		return c.fail("user_id", "is missing: limits count by it. For who isn't signed in, send what stays the same, such as the address")
	case m.Cost < 1 || m.Cost > maxCost:
		return c.fail("cost", "is %d: want a whole number from 1 to %d", m.Cost, maxCost)
	case len(m.Text) > maxMessageText:
		return c.fail("text", "has %d bytes, and %d are the most: limits don't read it, so its beginning is enough", len(m.Text), maxMessageText)
	}
	space := len(c.space)
	const spaced = 2 // of these, the first
	for i, name := range [...]struct {
		key, text string
		most      int
	}{
		{"channel", m.ChannelID[space:], journal.MaxAskedID}, {"user_id", m.User.ID[space:], journal.MaxAskedID}, {"id", m.ID, journal.MaxID},
		{"login", m.User.Login, journal.MaxName}, {"display_name", m.User.DisplayName, journal.MaxName},
	} {
		if err := journal.CheckName(name.text, name.most); err != nil {
			return c.fail(name.key, "%s", err)
		}
		if space > 0 && i < spaced && strings.HasPrefix(name.text, c.space) {
			return c.fail(name.key, "begins with %q, which only the dashboard's API puts before it: leave that out", c.space)
		}
	}
	if err := m.Validate(); err != nil {
		return c.fail("message", "can't be judged: %s", err)
	}
	return nil
}

// path is where a key stands in the request.
func (c *checkReader) path(key string) string {
	if c.index < 0 {
		return key
	}
	return fmt.Sprintf("messages[%d].%s", c.index, key)
}

func (c *checkReader) fail(key, format string, args ...any) error {
	return refuse(http.StatusUnprocessableEntity, "%s %s.", c.path(key), fmt.Sprintf(format, args...))
}

func unknownKey(path, known string) error {
	return refuse(http.StatusBadRequest, "That can't be read: unknown key %s (known: %s).", quoted(path), known)
}

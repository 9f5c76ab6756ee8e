package check

import (
	"fmt"
	"math"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/sendtime"
	"github.com/chatguard/chatguard/internal/web/problem"
)

const (
	// maxMessageText is the maximum length of a message's text in bytes. For throttled messages,
	// the beginning of the text is stored.
	maxMessageText = 8192
	maxCost        = math.MaxInt32
)

// checkedMessage is the body of POST /check.
type checkedMessage struct {
	Channel     string           `json:"channel"`
	UserID      string           `json:"user_id"`
	ID          string           `json:"id"`
	Login       string           `json:"login"`
	DisplayName string           `json:"display_name"`
	Roles       []chatguard.Role `json:"roles"`
	Text        string           `json:"text"`
	Cost        *int             `json:"cost"`
	At          jsontext.Value   `json:"at"`
	UpTo        bool             `json:"up_to"`
}

// checkedBatch is the body of POST /check/batch. Messages is nil if there is no list.
type checkedBatch struct {
	Messages checkedMessages `json:"messages"`
}

// checkedMessages are the messages of a batch, at most MaxBatch.
type checkedMessages []checkedMessage

// UnmarshalJSONFrom reads a list of messages, and stops at the first one beyond MaxBatch.
func (m *checkedMessages) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	switch from.PeekKind() {
	case '[':
	case 'n':
		return from.SkipValue()
	default:
		return errWrongKind[checkedMessages](from)
	}
	if _, err := from.ReadToken(); err != nil {
		return err
	}
	*m = checkedMessages{}
	for from.PeekKind() != ']' {
		if len(*m) == MaxBatch {
			return problem.New(http.StatusUnprocessableEntity, "A batch has at most %d messages: send the rest in another batch.", MaxBatch)
		}
		if from.PeekKind() != '{' {
			return errWrongKind[checkedMessage](from)
		}
		*m = append(*m, checkedMessage{})
		if err := json.UnmarshalDecode(from, &(*m)[len(*m)-1]); err != nil {
			return err
		}
	}
	_, err := from.ReadToken()
	return err
}

// errWrongKind returns the error for a decoder whose next value cannot be a T.
func errWrongKind[T any](from *jsontext.Decoder) error {
	kind := from.PeekKind()
	if kind == 0 {
		return from.SkipValue()
	}
	pointer := from.StackPointer()
	if open, read := from.StackIndex(from.StackDepth()); open == '[' {
		if read > 0 {
			pointer = pointer.Parent()
		}
		pointer = pointer.AppendToken(strconv.FormatInt(read, 10))
	}
	return &json.SemanticError{JSONPointer: pointer, JSONKind: kind, GoType: reflect.TypeFor[T]()}
}

// checkReader converts decoded messages to messages that can be judged.
type checkReader struct {
	now   time.Time
	space string // prefix of the IDs; see Options.Space
	index int    // in the batch; -1 without one
}

// toMessage converts what was read to a message that can be judged.
func (c *checkReader) toMessage(read *checkedMessage) (m chatguard.Message, err error) {
	m = chatguard.Message{
		ID: read.ID, ChannelID: c.prefixID(read.Channel), Text: read.Text, Cost: 1,
		User: chatguard.User{
			ID: c.prefixID(read.UserID), Login: read.Login, DisplayName: read.DisplayName, Roles: chatguard.RolesOf(read.Roles...),
		},
	}
	if read.Cost != nil {
		m.Cost = *read.Cost
	}
	sent, err := c.parseAt(read.At)
	if err != nil {
		return m, err
	}
	m.SentAt = sendtime.Bounded(sent, c.now)
	return m, c.validate(&m)
}

// parseAt parses the value of the key "at". It returns the zero time if the key is missing or null.
func (c *checkReader) parseAt(value jsontext.Value) (at time.Time, err error) {
	switch kind := value.Kind(); kind {
	case 0, 'n':
	case '"', '0':
		if at, err = sendtime.Parse(value); err != nil {
			return at, fmt.Errorf("%s: %w", c.path("at"), err)
		}
	default:
		return at, fmt.Errorf("%s: want a text or a number, found %s", c.path("at"), foundKind(kind))
	}
	return at, nil
}

// prefixID prefixes the ID of a channel or user with the space. An empty ID stays empty.
func (c *checkReader) prefixID(text string) string {
	if text == "" {
		return ""
	}
	return c.space + text
}

// validate returns a problem if a message cannot be judged or its texts cannot be stored.
func (c *checkReader) validate(m *chatguard.Message) error {
	switch {
	case m.ChannelID == "":
		return c.fail("channel", "is missing: the ID of the room that the message is for")
	case m.User.ID == "":
		return c.fail("user_id", "is missing: limits count by it. For anonymous users send something stable, such as their address")
	case m.Cost < 1 || m.Cost > maxCost:
		return c.fail("cost", "is %d: want a whole number from 1 to %d", m.Cost, maxCost)
	case len(m.Text) > maxMessageText:
		return c.fail("text", "has %d bytes, and at most %d are allowed: limits ignore it, so send only its beginning", len(m.Text), maxMessageText)
	}
	space := len(c.space)
	const spaced = 2 // the first two texts have the prefix
	for i, name := range [...]struct {
		key, text string
		most      int
	}{
		{"channel", m.ChannelID[space:], journal.MaxAskedID}, {"user_id", m.User.ID[space:], journal.MaxAskedID}, {"id", m.ID, journal.MaxID},
		{"login", m.User.Login, journal.MaxName}, {"display_name", m.User.DisplayName, journal.MaxName},
	} {
		if err := hostile.CheckName(name.text, name.most); err != nil {
			return c.fail(name.key, "%s", err)
		}
		if space > 0 && i < spaced && strings.HasPrefix(name.text, c.space) {
			return c.fail(name.key, "begins with %q, which is reserved for the dashboard's API: leave that out", c.space)
		}
	}
	if err := m.Validate(); err != nil {
		return c.fail("message", "can't be judged: %s", journal.Sentence(err))
	}
	return nil
}

// path returns the place of a key in the request.
func (c *checkReader) path(key string) string {
	if c.index < 0 {
		return key
	}
	return fmt.Sprintf("messages[%d].%s", c.index, key)
}

func (c *checkReader) fail(key, format string, args ...any) error {
	return problem.New(http.StatusUnprocessableEntity, "%s %s.", c.path(key), fmt.Sprintf(format, args...))
}

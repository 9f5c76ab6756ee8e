package check

import (
	"crypto/sha256"
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
	// maxHashed is how many bytes of a long ID are hashed. If the ID was cut while it arrived, at
	// least this many are left, so its hash stays the same.
	maxHashed = maxLongText / len(`\u0000`)
)

// checkedMessage is the body of POST /check.
type checkedMessage struct {
	Channel     string         `json:"channel"`
	UserID      string         `json:"user_id"`
	ID          string         `json:"id"`
	Login       string         `json:"login"`
	DisplayName string         `json:"display_name"`
	Roles       checkedRoles   `json:"roles"`
	Timezone    string         `json:"timezone"`
	Text        *string        `json:"text"`
	Kinds       checkedKinds   `json:"message_kind"`
	Cost        *int           `json:"cost"`
	At          jsontext.Value `json:"at"`
	UpTo        bool           `json:"up_to"`
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
	now    time.Time
	space  string // prefix of the IDs; see Options.Space
	isLong bool   // texts were cut while they arrived
}

// toMessage converts what was read to a message that can be judged. Values that users choose never
// cause an error, because a server shows a message that gets no verdict. Instead they are repaired,
// and changed lists their keys.
func (c *checkReader) toMessage(read *checkedMessage) (m chatguard.Message, changed []string, err error) {
	m = chatguard.Message{
		ID: read.ID, ChannelID: read.Channel, Cost: 1,
		User: chatguard.User{ID: read.UserID, Login: read.Login, DisplayName: read.DisplayName, Timezone: read.Timezone},
	}
	if read.Text != nil {
		m.Text = *read.Text
	}
	if read.Cost != nil {
		m.Cost = *read.Cost
	}
	sent, err := parseAt(read.At)
	if err != nil {
		return m, nil, err
	}
	m.SentAt = sendtime.Bounded(sent, c.now)
	if err := read.Roles.err; err != nil {
		return m, nil, fmt.Errorf("roles: %w", err)
	}
	if err := read.Kinds.err; err != nil {
		return m, nil, fmt.Errorf("message_kind: %w", err)
	}
	changed = c.repair(&m)
	return m, changed, c.validate(&m)
}

// parseAt parses the value of the key "at". It returns the zero time if the key is missing or null.
func parseAt(value jsontext.Value) (at time.Time, err error) {
	switch kind := value.Kind(); kind {
	case 0, 'n':
	case '"', '0':
		if at, err = sendtime.Parse(value); err != nil {
			return at, fmt.Errorf("at: %w", err)
		}
	default:
		return at, fmt.Errorf("at: want a text or a number, found %s", foundKind(kind))
	}
	return at, nil
}

// repair cuts and cleans those texts of a message that don't affect the decision. It replaces IDs
// that can't be stored with their hashes. It also adds the space to the IDs. It returns the keys of
// what it changed.
func (c *checkReader) repair(m *chatguard.Message) (changed []string) {
	for _, id := range [...]struct {
		key string
		at  *string
	}{{"channel", &m.ChannelID}, {"user_id", &m.User.ID}} {
		if isUnfit(*id.at, journal.MaxAskedID) {
			*id.at = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte((*id.at)[:min(len(*id.at), maxHashed)])))
			changed = append(changed, id.key)
		}
		if *id.at != "" {
			*id.at = c.space + *id.at
		}
	}
	for _, name := range [...]struct {
		key  string
		at   *string
		most int
	}{{"id", &m.ID, journal.MaxID}, {"login", &m.User.Login, journal.MaxName}, {"display_name", &m.User.DisplayName, journal.MaxName}} {
		if isUnfit(*name.at, name.most) {
			*name.at = hostile.ClipName(*name.at, name.most)
			changed = append(changed, name.key)
		}
	}
	text := m.Text[:min(len(m.Text), maxMessageText)]
	if c.isLong && len(text) > maxHashed { // a shorter one wasn't cut
		text = strings.TrimSuffix(text, cutMark)
	}
	if len(text) < len(m.Text) {
		// Nothing marks the end, because limits on repeated text would compare the mark, too.
		m.Text = strings.ToValidUTF8(text, "")
		changed = append(changed, "text")
	}
	return changed
}

// isUnfit reports whether a name has more than most bytes or isn't plain.
func isUnfit(name string, most int) bool { return len(name) > most || !hostile.IsPlain(name) }

// validate returns a problem if a message cannot be judged.
func (c *checkReader) validate(m *chatguard.Message) error {
	switch {
	case m.ChannelID == "":
		return failKey("channel", "is missing: the ID of the room that the message is for")
	case m.User.ID == "":
		return failKey("user_id", "is missing: limits count by it. For anonymous users send something stable, such as their address")
	case m.Cost < 1 || m.Cost > maxCost:
		return failKey("cost", "is %d: want a whole number from 1 to %d", m.Cost, maxCost)
	}
	known := *m
	known.User.Timezone = "" // a message whose zone is unknown can be judged
	if err := known.Validate(); err != nil {
		return failKey("message", "can't be judged: %s", journal.Sentence(err))
	}
	return nil
}

func failKey(key, format string, args ...any) error {
	return problem.New(http.StatusUnprocessableEntity, "%s %s.", key, fmt.Sprintf(format, args...))
}

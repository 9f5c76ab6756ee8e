package live

import (
	"encoding/binary"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/journal"
)

// Said is a message in chat, as in the API.
type Said struct {
	At          time.Time       `json:"at"`
	UserID      string          `json:"user_id"`
	Login       string          `json:"login"`
	DisplayName string          `json:"display_name"`
	Color       string          `json:"color"` // of the name in chat; may be empty
	Roles       chatguard.Roles `json:"roles"`
	Text        string          `json:"text"`
	// Entry is the journal entry of a throttled or observed message, otherwise 0.
	Entry     chatguard.EntryID `json:"entry"`
	Throttled bool              `json:"throttled"` // whether a limit throttled the message
	Observed  bool              `json:"observed"`  // whether the limit only observed
	Asked     bool              `json:"asked"`     // whether the request named this message
}

// record is a message in a chunk, without its length prefix. It is a header, and then the texts,
// each with a length prefix.
type record []byte

// Offsets in a record's header.
const (
	recordAt     = 0
	recordEntry  = 8
	recordFlags  = 16
	recordHeader = 17

	flagThrottled = 1
	flagObserved  = 2
)

// recordTexts are the maximum lengths of a record's texts, in bytes: channel, user, login, display
// name, color, text, roles.
var recordTexts = [...]int{journal.MaxID, journal.MaxID, journal.MaxName, journal.MaxName, len("#rrggbb"), journal.MaxText, maxRoles}

// maxRoles is the maximum length of the names of a message's roles, which are separated by commas.
const maxRoles = 1024

// maxRecord is the maximum length of a record with all lengths, in bytes. A text may be one byte
// too long, so that said sees that it was cut off.
const maxRecord = 2 + recordHeader + 2*journal.MaxID + 2*journal.MaxName + len("#rrggbb") + journal.MaxText + maxRoles + 7*3

// appendRecord appends the record of a message and its verdict, with its length.
func appendRecord(data []byte, m *chatguard.Message, color string, v *chatguard.Verdict) []byte {
	start := len(data)
	data = append(data, 0, 0) // the length
	data = binary.LittleEndian.AppendUint64(data, uint64(v.At.UnixNano()))
	data = binary.LittleEndian.AppendUint64(data, uint64(v.EntryID))
	var flags byte
	if v.Throttled() {
		flags |= flagThrottled
	}
	if v.Observed {
		flags |= flagObserved
	}
	data = append(data, flags)
	for i, text := range [...]string{v.ChannelID, v.UserID, m.User.Login, m.User.DisplayName, color, m.Text, joinRoles(m.User.Roles)} {
		text = text[:min(len(text), recordTexts[i]+1)]
		data = binary.LittleEndian.AppendUint16(data, uint16(len(text)))
		data = append(data, text...)
	}
	binary.LittleEndian.PutUint16(data[start:], uint16(len(data)-start-2))
	return data
}

// cutRecord returns the first record of data, and what follows it.
func cutRecord(data []byte) (first record, rest []byte) {
	length := int(binary.LittleEndian.Uint16(data))
	return record(data[2 : 2+length]), data[2+length:]
}

// cutText returns the first text of data, and what follows it.
func cutText(data []byte) (text, rest []byte) {
	length := int(binary.LittleEndian.Uint16(data))
	return data[2 : 2+length], data[2+length:]
}

// is reports whether the message is in a channel.
func (r record) is(channel string) bool {
	text, _ := cutText(r[recordHeader:])
	return string(text) == channel
}

// isOf reports whether the message is of a user.
func (r record) isOf(user string) bool {
	_, rest := cutText(r[recordHeader:])
	text, _ := cutText(rest)
	return string(text) == user
}

// entry returns the journal entry of the message, or 0.
func (r record) entry() chatguard.EntryID {
	return chatguard.EntryID(binary.LittleEndian.Uint64(r[recordEntry:]))
}

// said returns the message for the API. Its texts are clipped as in the journal.
func (r record) said(asked bool) Said {
	var texts [len(recordTexts)]string
	rest := []byte(r[recordHeader:])
	for i := range texts {
		var text []byte
		text, rest = cutText(rest)
		texts[i] = string(text)
	}
	return Said{
		At: time.Unix(0, int64(binary.LittleEndian.Uint64(r[recordAt:]))).UTC(), UserID: texts[1],
		Login: hostile.ClipName(texts[2], journal.MaxName), DisplayName: hostile.ClipName(texts[3], journal.MaxName), Color: hostile.ClipName(texts[4], len("#rrggbb")),
		Roles: splitRoles(texts[6]), Text: hostile.Clip(texts[5], journal.MaxText),
		Entry: r.entry(), Throttled: r[recordFlags]&flagThrottled != 0, Observed: r[recordFlags]&flagObserved != 0, Asked: asked,
	}
}

// joinRoles returns the names of roles as one text, without those that don't fit.
func joinRoles(roles chatguard.Roles) string {
	if len(roles) == 0 {
		return ""
	}
	var b []byte
	for _, r := range roles {
		if len(b)+1+len(r) > maxRoles {
			break
		}
		b = append(append(b, r...), ',')
	}
	return string(b)
}

// splitRoles returns the roles that joinRoles has joined.
func splitRoles(text string) chatguard.Roles {
	roles := chatguard.Roles{}
	for name := range strings.SplitSeq(strings.TrimSuffix(text, ","), ",") {
		if name != "" {
			roles = append(roles, chatguard.Role(name))
		}
	}
	return roles
}

package checkclient

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/chatguard/chatguard"
)

// Maximum numbers of bytes that are sent. chatguard uses no more.
const (
	maxKeyID     = 1024 // the ID of a channel or user
	maxMessageID = 256
	maxName      = 200
	maxText      = 8192
	maxTimezone  = 64
)

// message is the JSON form of a message.
type message struct {
	Channel     string          `json:"channel"`
	UserID      string          `json:"user_id"`
	ID          string          `json:"id,omitempty"`
	Login       string          `json:"login,omitempty"`
	DisplayName string          `json:"display_name,omitempty"`
	Roles       chatguard.Roles `json:"roles,omitempty"`
	Timezone    string          `json:"timezone,omitempty"`
	Text        string          `json:"text,omitempty"`
	Kinds       string          `json:"message_kind,omitempty"`
	Cost        int             `json:"cost,omitempty"`
	At          time.Time       `json:"at,omitzero"`
	UpTo        bool            `json:"up_to,omitempty"`
}

// encode returns the JSON of a message. It returns an error if the message can't be judged.
func encode(m chatguard.Message, upTo bool) ([]byte, error) {
	judged := m // chatguard shortens long IDs
	judged.ChannelID, judged.User.ID = m.ChannelID[:min(1, len(m.ChannelID))], m.User.ID[:min(1, len(m.User.ID))]
	judged.User.Timezone = "" // chatguard judges a message whose zone is unknown
	if err := judged.Validate(); err != nil {
		return nil, err
	}
	at := m.SentAt
	if !at.IsZero() {
		at = at.UTC() // a zone's offset may have seconds, which RFC 3339 doesn't allow
	}
	return json.Marshal(message{
		Channel: beginning(m.ChannelID, maxKeyID), UserID: beginning(m.User.ID, maxKeyID), ID: beginning(m.ID, maxMessageID), Login: beginning(m.User.Login, maxName),
		DisplayName: beginning(m.User.DisplayName, maxName), Roles: m.User.Roles, Timezone: beginning(m.User.Timezone, maxTimezone), Text: beginning(m.Text, maxText), Kinds: strings.Join(m.Kinds, ", "), Cost: m.Cost, At: at, UpTo: upTo,
	})
}

// beginning returns at most the first most bytes of a text as valid UTF-8, without half a character
// at its end.
func beginning(text string, most int) string {
	text = strings.ToValidUTF8(text[:min(len(text), most+utf8.UTFMax)], "\uFFFD")
	if len(text) <= most {
		return text
	}
	end := most
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

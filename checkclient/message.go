package checkclient

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/chatguard/chatguard"
)

// maxText is the maximum number of bytes of a text that chatguard accepts.
const maxText = 8192

// message is the JSON form of a message.
type message struct {
	Channel     string          `json:"channel"`
	UserID      string          `json:"user_id"`
	ID          string          `json:"id,omitempty"`
	Login       string          `json:"login,omitempty"`
	DisplayName string          `json:"display_name,omitempty"`
	Roles       chatguard.Roles `json:"roles,omitempty"`
	Text        string          `json:"text,omitempty"`
	Cost        int             `json:"cost,omitempty"`
	At          time.Time       `json:"at,omitzero"`
	UpTo        bool            `json:"up_to,omitempty"`
}

// encode returns the JSON of a message. It returns an error if the message can't be judged.
func encode(m chatguard.Message, upTo bool) ([]byte, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	at := m.SentAt
	if !at.IsZero() {
		at = at.UTC() // a zone's offset may have seconds, which RFC 3339 doesn't
	}
	return json.Marshal(message{
		Channel: m.ChannelID, UserID: m.User.ID, ID: m.ID, Login: m.User.Login, DisplayName: m.User.DisplayName, Roles: m.User.Roles,
		Text: beginning(m.Text), Cost: m.Cost, At: at, UpTo: upTo,
	})
}

// beginning returns the part of a text that chatguard accepts, without half a character at its end.
func beginning(text string) string {
	text = strings.ToValidUTF8(text[:min(len(text), maxText+utf8.UTFMax)], "\uFFFD")
	if len(text) <= maxText {
		return text
	}
	end := maxText
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

package checkclient

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/chatguard/chatguard"
)

// Maximum numbers of bytes that chatguard accepts.
const (
	maxKeyID     = 250 // the ID of a channel or user
	maxMessageID = 256
	maxName      = 200
	maxText      = 8192
)

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
	if err := checkLength("channel", m.ChannelID); err != nil {
		return nil, err
	}
	if err := checkLength("user_id", m.User.ID); err != nil {
		return nil, err
	}
	at := m.SentAt
	if !at.IsZero() {
		at = at.UTC() // a zone's offset may have seconds, which RFC 3339 doesn't
	}
	return json.Marshal(message{
		Channel: m.ChannelID, UserID: m.User.ID, ID: plain(m.ID, maxMessageID), Login: plain(m.User.Login, maxName),
		DisplayName: plain(m.User.DisplayName, maxName), Roles: m.User.Roles, Text: beginning(m.Text, maxText), Cost: m.Cost, At: at, UpTo: upTo,
	})
}

// checkLength returns the error with which chatguard would refuse the ID of a channel or user.
func checkLength(key, id string) error {
	if len(id) > maxKeyID {
		return &Error{http.StatusUnprocessableEntity, fmt.Sprintf("%s has %d bytes, and at most %d are allowed.", key, len(id), maxKeyID)}
	}
	return nil
}

// plain returns the part of a name that chatguard accepts: the beginning, without control
// characters and invalid UTF-8. Users choose their names, so a name must not be a mistake.
func plain(name string, most int) string {
	return beginning(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, name), most)
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

package config

import (
	"bytes"
	_ "embed"
	"errors"
	"text/template"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

//go:embed starter.toml
var starterText string

var starter = template.Must(template.New("starter").Parse(starterText))

// Starter is a small configuration file to begin with. Its policy only observes, and its comments
// explain each line. It is for one channel on Twitch or for one Room, which is the ID of a channel
// of the owner's own chat. ClientID and Listen may be empty: the ID is then entered later, and the
// dashboard listens at the default address.
type Starter struct{ Channel, Room, Timezone, ClientID, Listen string }

// Write returns the contents of the file. The channel is written as ChannelName returns it. The
// error says what is wrong with the channel, the room, the time zone or the client ID.
func (s Starter) Write() ([]byte, error) {
	var err error
	if s.Room != "" {
		err = checkChannel(&Config{}, s.Room, 0)
	} else {
		s.Channel, err = ChannelName(s.Channel)
	}
	if err != nil {
		return nil, err
	}
	if err := (chatguard.Policy{Timezone: s.Timezone}).Validate(); err != nil {
		return nil, errors.New(journal.Sentence(err))
	}
	if s.ClientID != "" {
		if err := CheckClientID(s.ClientID); err != nil {
			return nil, err
		}
	}
	var file bytes.Buffer
	err = starter.Execute(&file, s)
	return file.Bytes(), err
}

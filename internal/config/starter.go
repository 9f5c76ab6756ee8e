package config

import (
	"bytes"
	_ "embed"
	"text/template"

	"github.com/chatguard/chatguard"
)

//go:embed starter.toml
var starterText string

var starter = template.Must(template.New("starter").Parse(starterText))

// Starter is a small file to begin with: it only observes, and says in comments what each line is for. It is for one channel of Twitch's or for
// one Room, the ID of a channel of somebody's own chat.
type Starter struct{ Channel, Room, Timezone string }

// Write returns the file's contents. The channel is written as ChannelName returns it. The error says what is wrong with the channel, the room or
// the zone.
func (s Starter) Write() ([]byte, error) {
	var err error
	if s.Room != "" {
		err = checkedChannel(&Config{}, s.Room, 0)
	} else {
		s.Channel, err = ChannelName(s.Channel)
	}
	if err != nil {
		return nil, err
	}
	if err := (chatguard.Policy{Timezone: s.Timezone}).Validate(); err != nil {
		return nil, err
	}
	var file bytes.Buffer
	err = starter.Execute(&file, s)
	return file.Bytes(), err
}

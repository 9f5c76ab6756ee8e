package config

import (
	_ "embed"
	"strings"

	"github.com/chatguard/chatguard"
)

//go:embed starter.toml
var starter string

// Starter returns the contents of a small file to begin with: it moderates one channel in its zone, only observes, and says in comments
// what each line is for. The channel is written as ChannelName returns it. The error says what is wrong with the channel or the zone.
func Starter(channel, timezone string) ([]byte, error) {
	login, err := ChannelName(channel)
	if err != nil {
		return nil, err
	}
	if err := (chatguard.Policy{Timezone: timezone}).Validate(); err != nil {
		return nil, err
	}
	return []byte(strings.NewReplacer("CHANNEL", login, "TIMEZONE", timezone).Replace(starter)), nil
}

package config

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// starterText is the file. Write replaces the names in braces. It doesn't use text/template, which
// makes the binary larger (TestBinary_UnusedMethods in cmd/chatguard).
//
//go:embed starter.toml
var starterText string

// The parts of the file for a channel on Twitch. The arguments of starterTwitch are the channel and
// the line of the client ID.
const (
	starterTwitch = `[twitch]
channels = [%q]
%s
# Reading needs no account. To act, chatguard needs the account of a moderator there: connect it in
# the dashboard, or with ` + "`chatguard login`" + `. Never put passwords or tokens in this file.`
	starterTwitchPenalties = `[penalties]             # what happens at the first strike, the second, and so on; the last repeats
ladder = ["delete", "delete", "warn", "timeout 30s", "timeout 10m"]`
)

// The parts of the file for a Room, which is the argument of starterCheck.
const (
	starterCheck = `[check]
channels = [%q]

# Its server asks by POST /api/v1/check before it shows a message. It needs a token:
# ` + "`chatguard token make NAME --role check`" + `. Never put passwords or tokens in this file.`
	starterCheckPenalties = `[penalties]             # what happens to throttled messages: the server drops them
ladder = ["drop"]`
)

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
	chat, penalties := fmt.Sprintf(starterCheck, s.Room), starterCheckPenalties
	if s.Room == "" {
		clientID := ""
		if s.ClientID != "" {
			clientID = fmt.Sprintf("client_id = %q   # of your Twitch application\n", s.ClientID)
		}
		chat, penalties = fmt.Sprintf(starterTwitch, s.Channel, clientID), starterTwitchPenalties
	}
	file := strings.NewReplacer("{timezone}", s.Timezone, "{chat}", chat, "{penalties}", penalties).Replace(starterText)
	if s.Listen != "" {
		file += fmt.Sprintf("\n[web]\nlisten = %q\n", s.Listen)
	}
	return []byte(file), nil
}

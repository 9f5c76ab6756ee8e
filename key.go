package chatguard

import (
	"fmt"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/internal/sharing"
)

// Key says whose usage or override a method reads or changes. Per selects the limits: the zero
// value selects the PerUser limits, which most policies consist of.
type Key struct {
	ChannelID string // required, except with PerUserEverywhere and PerEverywhere, where it must be empty
	UserID    string // required, except with PerChannel and PerEverywhere, where it must be empty
	Per       Scope
}

// Key returns the key of the message's author in the channel of the message.
func (m Message) Key() Key { return Key{ChannelID: m.ChannelID, UserID: m.User.ID} }

// Key returns the key of the author in the channel of the message that the verdict is about.
func (v Verdict) Key() Key { return Key{ChannelID: v.ChannelID, UserID: v.UserID} }

// String returns the key for logs: "user 7 in channel 1", "user 7 in all channels", "channel 1" or
// "all channels".
func (k Key) String() string {
	switch k.Per {
	case PerUser:
		return fmt.Sprintf("user %q in channel %q", k.UserID, k.ChannelID)
	case PerUserEverywhere:
		return fmt.Sprintf("user %q in all channels", k.UserID)
	case PerChannel:
		return fmt.Sprintf("channel %q", k.ChannelID)
	case PerEverywhere:
		return "all channels"
	}
	return fmt.Sprintf("key with %s", k.Per)
}

// validate returns an error that is ErrInvalid if the key isn't valid.
func (k Key) validate() error {
	if k.Per > PerEverywhere || k.Per.inAllChannels() && k.ChannelID != "" || k.Per.isShared() && k.UserID != "" {
		return errKey
	}
	if !k.Per.inAllChannels() {
		if err := checkID(k.ChannelID, errNoChannel); err != nil {
			return err
		}
	}
	if !k.Per.isShared() {
		return checkUserID(k.UserID)
	}
	return nil
}

// row returns the key of the row in a shared store.
func (k Key) row() sharing.Key { return sharing.Key{ChannelID: k.ChannelID, UserID: k.UserID} }

// Scope says who shares the allowance of a limit. The zero value is PerUser.
type Scope uint8

// The scopes.
const (
	PerUser           Scope = iota // each user has a separate allowance in each channel
	PerUserEverywhere              // each user has one allowance in all channels together
	PerChannel                     // everyone in a channel shares one allowance; gives no strikes
	PerEverywhere                  // everyone in all channels shares one allowance; gives no strikes
	// PerUserText is for limits on repeated text: each text of a user in a channel has a separate
	// allowance. See Limit.Similar for which texts are the same.
	PerUserText
	// PerText is for limits on repeated text: each text in a channel has one allowance, which
	// everyone shares. It gives no strikes, unless Limit.Strikes is set.
	PerText
)

// inAllChannels reports whether a limit counts in all channels together. A single channel can't
// change such a limit.
func (s Scope) inAllChannels() bool { return limits.Scope(s).InAllChannels() }

// isShared reports whether several users share the allowance of a limit.
func (s Scope) isShared() bool { return limits.Scope(s).IsShared() }

// isText reports whether a limit is on repeated text.
func (s Scope) isText() bool { return limits.Scope(s).IsText() }

var scopeNames = [...]string{"user", "user-everywhere", "channel", "everywhere", "user-text", "text"}

// String returns the scope's name as used in configuration and JSON.
func (s Scope) String() string { return nameOf(scopeNames[:], "scope", s) }

// MarshalText writes the scope's name.
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText parses a scope's name.
func (s *Scope) UnmarshalText(text []byte) error {
	return parseName(scopeNames[:], "scope", text, s)
}

// guardAt has the methods that change a Guard, as of a certain time. Those of the Guard act as of
// its clock; package internal/inner hands out this type for a replay of old messages.
type guardAt struct {
	guard *Guard
	at    time.Time
}

// at returns the methods that change a Guard, as of a time.
func (g *Guard) at(at time.Time) guardAt { return guardAt{g, at} }

// atNow returns the methods that change a Guard, as of the time of its clock.
func (g *Guard) atNow() guardAt { return guardAt{g, g.Now()} }

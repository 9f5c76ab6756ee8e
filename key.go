package chatguard

import (
	"fmt"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// Key says whose usage a method changes. Per selects the limits: the zero value selects the
// PerUser limits, which most policies consist of.
type Key struct {
	ChannelID string // required, except with PerUserEverywhere, where it must be empty
	UserID    string // required, except with PerChannel, where it must be empty
	Per       Scope
}

// Key returns the key of the message's author in the channel of the message.
func (m Message) Key() Key { return Key{ChannelID: m.ChannelID, UserID: m.User.ID} }

// Key returns the key of the author in the channel of the message that the verdict is about.
func (v Verdict) Key() Key { return Key{ChannelID: v.ChannelID, UserID: v.UserID} }

// String returns the key for logs: "user 7 in channel 1", "user 7 in all channels" or "channel 1".
func (k Key) String() string {
	switch k.Per {
	case PerUser:
		return fmt.Sprintf("user %q in channel %q", k.UserID, k.ChannelID)
	case PerUserEverywhere:
		return fmt.Sprintf("user %q in all channels", k.UserID)
	case PerChannel:
		return fmt.Sprintf("channel %q", k.ChannelID)
	}
	return fmt.Sprintf("key with %s", k.Per)
}

// validate returns ErrNoChannel, ErrNoUser, ErrLongID or ErrKey if the key isn't valid.
func (k Key) validate() error {
	if k.Per > PerChannel || k.Per == PerUserEverywhere && k.ChannelID != "" || k.Per == PerChannel && k.UserID != "" {
		return ErrKey
	}
	if k.Per != PerUserEverywhere {
		if err := checkID(k.ChannelID, ErrNoChannel); err != nil {
			return err
		}
	}
	if k.Per != PerChannel {
		return checkID(k.UserID, ErrNoUser)
	}
	return nil
}

// keyTable returns the table with the usage of a key, and the time in the table's unit.
func (g *Guard) keyTable(k Key, at time.Time) (*limits.Table, int64, error) {
	if err := k.validate(); err != nil {
		return nil, 0, err
	}
	return g.userTable(k.ChannelID, k.UserID, at)
}

package chatguard

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// ErrInvalid is the error for a message, key or verdict that is a mistake of the caller: an ID is
// missing, is longer than 256 bytes, or doesn't fit the key's Per, a user ID begins with the
// control character U+001F, the cost is negative, or the time is before 1970 or after February
// 2116. Errors that wrap it say which. Nothing is counted or changed.
var ErrInvalid = errors.New("chatguard: invalid message or key")

// invalid is the text of an error that is ErrInvalid.
type invalid string

func (e invalid) Error() string { return string(e) }

// Is makes the error ErrInvalid for errors.Is.
func (e invalid) Is(target error) bool { return target == ErrInvalid }

const (
	errNoChannel = invalid("chatguard: the channel ID is empty")
	errNoUser    = invalid("chatguard: the user ID is empty")
	errLongID    = invalid("chatguard: a channel or user ID is longer than 256 bytes")
	errTextID    = invalid("chatguard: a user ID begins with the control character U+001F")
	errCost      = invalid("chatguard: the cost is negative")
	errTime      = invalid("chatguard: the time is before 1970 or after February 2116")
	errKey       = invalid("chatguard: the key has an ID that its Per excludes, or an unknown Per")
)

// ErrTimezone is the error of Message.Validate for a User.Timezone that isn't a zone. Check judges
// such a message by the limits' zone.
var ErrTimezone = errors.New("chatguard: unknown timezone")

// maxID is the maximum length in bytes of a user or channel ID. Longer IDs could fill the memory.
const maxID = 256

// KindEmotes is the kind of a message that consists of emotes only. Limits on repeated text leave
// it out, unless Limit.CountEmotes is set.
const KindEmotes = "emotes"

// Message is one chat message. The Guard uses its author, channel, kind, time and cost, and its
// text if there are limits on repeated text.
//
// ChannelID and User.ID are required; all other fields may be empty. Limits count by IDs, never by
// names, because names change.
type Message struct {
	ID        string // platform's message ID; needed to delete it
	ChannelID string // channel in which it appeared
	User      User   // the author
	// Text is read only by limits on repeated text (PerUserText and PerText). The Guard doesn't
	// keep it.
	Text string
	// Kinds say what is special about the message, such as "paid" or KindEmotes. The program
	// defines the other names. None means an ordinary message. Policy.ExemptKinds may exempt kinds.
	Kinds []string
	// SentAt is when the message was sent, from 1970 to February 2116. Zero means now, by the
	// Guard's clock.
	SentAt time.Time
	// Cost is the number of messages that the message counts as. 0 means 1, and negative values are
	// an error.
	Cost int
	// Print is the print of a text that isn't at hand, such as that of a recorded message. Nil
	// means that of Text. It must have been made with the same Options.TextKey.
	Print *TextPrint
}

// Validate returns nil if the message can be judged as it says. Otherwise it returns the error that
// Check would return, which is ErrInvalid. But if the user's zone is unknown, it returns
// ErrTimezone, whatever the other fields are; that is no error of Check. So a program can check a
// zone when a user signs in, before there is a channel.
func (m Message) Validate() error {
	if zone := m.User.Timezone; zone != "" && limits.TimezoneOf(zone) == nil {
		return fmt.Errorf("%w %.80q (want an IANA name such as Europe/Berlin)", ErrTimezone, zone)
	}
	if err := m.checkIDs(); err != nil || m.SentAt.IsZero() { // the current time is always valid
		return err
	}
	_, err := nanoseconds(m.SentAt)
	return err
}

// User is the author of a message.
type User struct {
	ID          string // stable for the life of the account
	Login       string // name in addresses and commands; may change
	DisplayName string // displayed name; may be empty
	Roles       Roles  // in this channel; those that the policy doesn't name have no effect
	// Timezone is the IANA name of the zone of the account, such as "Asia/Tokyo". The user's days,
	// weeks and months begin by its clock, in limits per user in every channel. A message's zone is
	// used when a period begins, so another one has no effect before the current period ends, and
	// never gives more messages. Empty, or an unknown name, means the limits' zone;
	// Message.Validate returns an error for an unknown one. The zone of a UserOverride takes
	// precedence.
	Timezone string
	// Visitor says that the user isn't signed in. The ID is then connguard.AnonymousID or one that
	// connguard.AddressID returns. Packages connguard and httpguard refuse these IDs without
	// Visitor, and all others with it. The Guard ignores Visitor.
	Visitor bool
}

// Name returns the name to display: the display name, or the login if that is empty, or the ID if
// both are empty.
func (u User) Name() string {
	switch {
	case u.DisplayName != "":
		return u.DisplayName
	case u.Login != "":
		return u.Login
	}
	return u.ID
}

// String returns the user for logs, as in "Anna (48215771)". It is the ID alone for a user without
// names.
func (u User) String() string {
	if name := u.Name(); name != u.ID {
		return fmt.Sprintf("%s (%s)", name, u.ID)
	}
	return u.ID
}

// LogValue returns the user's ID, and the login and the roles if there are any.
func (u User) LogValue() slog.Value {
	attrs := []slog.Attr{slog.String("id", u.ID)}
	if u.Login != "" {
		attrs = append(attrs, slog.String("login", u.Login))
	}
	if len(u.Roles) > 0 {
		attrs = append(attrs, slog.String("roles", u.Roles.String()))
	}
	return slog.GroupValue(attrs...)
}

func checkID(id string, missing error) error {
	switch {
	case id == "":
		return missing
	case len(id) > maxID:
		return errLongID
	}
	return nil
}

// checkUserID is checkID for a user.
func checkUserID(id string) error {
	if id != "" && id[0] == limits.TextMark {
		return errTextID
	}
	return checkID(id, errNoUser)
}

// nanoseconds converts a time to the unit used in decisions.
func nanoseconds(t time.Time) (int64, error) {
	s := t.Unix()
	if s < 0 || s >= limits.MaxTime/int64(time.Second) {
		return 0, errTime
	}
	return s*int64(time.Second) + int64(t.Nanosecond()), nil
}

// instant is nanoseconds for fillRequest. It is negative at a time at which no message can be
// judged.
func instant(t time.Time) int64 {
	ns, err := nanoseconds(t)
	if err != nil {
		return -1
	}
	return ns
}

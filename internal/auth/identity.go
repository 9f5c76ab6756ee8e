package auth

import (
	"errors"
	"fmt"
	"strings"

	"github.com/chatguard/chatguard/internal/hostile"
)

// OwnerName is the name of the installation's owner. The holder of the installation's own token has
// this name, and so do users of sign-in links that name nobody else.
const OwnerName = "owner"

// Origin is where a person comes from.
type Origin string

// The origins.
const (
	FromOwner  Origin = "owner"  // the installation's own token
	FromLink   Origin = "link"   // a sign-in link
	FromToken  Origin = "token"  // a named token
	FromTwitch Origin = "twitch" // an account on Twitch; the name is its login
	FromSite   Origin = "site"   // another site that the dashboard is part of
)

// Origins returns all origins.
func Origins() []Origin { return []Origin{FromOwner, FromLink, FromToken, FromTwitch, FromSite} }

// Identity is the holder of a token, or of a session.
type Identity struct {
	Name string `json:"name"`
	// Access is what the person may do. If Channels is not nil, it is the highest access that they
	// have in a channel.
	Access Access `json:"access"`
	From   Origin `json:"from"`
	// Channels is what the person may do in each channel, by its ID. Other channels are invisible
	// to them. Nil means that they have Access in all channels.
	Channels map[string]Access `json:"channels,omitempty"`
}

// Author returns the name under which the person's changes are recorded: "owner", or the origin and
// the name, such as "token:anna". No two people have the same one.
func (i Identity) Author() string {
	if i.From == FromOwner || i.From == FromLink && i.Name == OwnerName && i.Access == Own {
		return OwnerName
	}
	return i.From.prefix() + i.Name
}

// prefix is what the authors of an origin begin with.
func (o Origin) prefix() string { return string(o) + ":" }

// AuthorsNamed returns the authors with a name, wherever they come from.
func AuthorsNamed(name string) []string {
	authors := []string{}
	for _, origin := range Origins() {
		authors = append(authors, origin.prefix()+name)
	}
	return authors
}

// In returns what the person may do in a channel.
func (i Identity) In(channelID string) Access {
	if i.Channels == nil {
		return i.Access
	}
	return i.Channels[channelID]
}

// InAll returns the person's access to the whole installation. People whose access depends on the
// channel have none, even if they have access to all known channels, because others may become
// known later.
func (i Identity) InAll() Access {
	if i.Channels != nil {
		return Any
	}
	return i.Access
}

// CheckName returns an error if a token or sign-in link can't have the name. The error says what is
// wrong.
func CheckName(name string) error {
	if name == "" || hostile.Printable(name) != name {
		return errors.New("want a name of up to 200 characters on one line")
	}
	for _, origin := range Origins() {
		if prefix := origin.prefix(); strings.HasPrefix(name, prefix) {
			return fmt.Errorf("%q marks the origin of an author: use a name without %[1]q", prefix)
		}
	}
	return nil
}

// CheckTokenName is CheckName for a token. The owner's name stands for the installation's own token
// and for sign-in links.
func CheckTokenName(name string) error {
	if name == OwnerName {
		return errors.New("owner is the name of CHATGUARD_WEB_TOKEN, and of sign-in links without --name: use another")
	}
	return CheckName(name)
}

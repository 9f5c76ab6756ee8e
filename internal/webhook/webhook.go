// Package webhook tells other programs what happens in a chat: it sends events to webhooks, in
// Discord's format or as signed JSON. Deliveries wait in a bounded queue for each hook, keep their
// order, and are tried again with growing pauses. What can't be delivered stays as a dead letter.
//
// Servers are only reached at public addresses, unless the configuration allows others for a hook.
//
// The package doesn't know the chat, the dashboard or the database. A package that notices
// something calls Sender.Send.
package webhook

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/chatguard/chatguard/internal/hostile"
)

// Format is the form in which a hook receives events.
type Format string

// The formats.
const (
	Discord Format = "discord" // an embed for one of Discord's webhooks
	Signed  Format = "signed"  // JSON, signed as in Standard Webhooks
)

// Formats are all formats.
var Formats = []Format{Discord, Signed}

// Hook is a webhook: where events are sent, and which.
type Hook struct {
	ID      string // unique; that of a hook of the configuration is ConfiguredID of its name
	Name    string
	Address Address
	Format  Format
	Secret  Secret // signs what is sent; empty unless the format is Signed
	Events  []Kind // that are sent
	// Channels are the logins, rooms or IDs of the channels whose events are sent. Empty means all.
	// Events that belong to no channel are always sent.
	Channels []string
	// AllowPrivate allows addresses of private networks, and http. Only the configuration sets it.
	AllowPrivate bool
	IsConfigured bool // the hook is one of the configuration
}

// ConfiguredID returns the ID of a hook of the configuration. No other hook has such an ID.
func ConfiguredID(name string) string { return "config:" + name }

const (
	maxName     = 50  // characters
	maxChannels = 100 // of a hook
	maxHooks    = 20  // besides those of the configuration
)

// Check returns an error, as a sentence for people, unless the hook is complete.
func (h Hook) Check() error {
	switch {
	case h.Name == "" || strings.TrimSpace(h.Name) != h.Name || utf8.RuneCountInString(h.Name) > maxName || !hostile.IsPlain(h.Name):
		return fmt.Errorf("a webhook has a name of 1 to %d characters on one line", maxName)
	case !slices.Contains(Formats, h.Format):
		return fmt.Errorf("%q is not a format: choose discord or signed", hostile.Clip(string(h.Format), maxName))
	case len(h.Events) == 0:
		return errors.New("a webhook without events would receive nothing: choose at least one")
	}
	if err := CheckKinds(h.Events); err != nil {
		return err
	}
	if err := CheckChannels(h.Channels); err != nil {
		return err
	}
	if (h.Format == Signed) != (h.Secret != "") {
		return errors.New("exactly the webhooks of the format signed have a secret")
	}
	return h.Address.check(h.AllowPrivate)
}

// CheckChannels returns an error, as a sentence for people, unless a hook can have these channels.
func CheckChannels(channels []string) error {
	if len(channels) > maxChannels {
		return fmt.Errorf("a webhook has at most %d channels: choose none for all", maxChannels)
	}
	for _, channel := range channels {
		if channel == "" || hostile.CheckName(channel, maxChannelName) != nil {
			return errors.New("a channel is a login, a room's name or an ID on one line")
		}
	}
	return nil
}

// maxChannelName is the maximum length of a channel's name, in bytes.
const maxChannelName = 256

// wants reports whether the hook receives an event.
func (h Hook) wants(e *Event) bool {
	if !slices.Contains(h.Events, e.Kind) {
		return false
	}
	if e.Channel == nil || len(h.Channels) == 0 {
		return true
	}
	return slices.ContainsFunc(h.Channels, func(name string) bool { return name == e.Channel.ID || strings.EqualFold(name, e.Channel.Login) })
}

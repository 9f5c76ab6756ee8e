// Package control makes the changes that moderators request while chat runs, from the dashboard or
// from chat. It pauses a channel, switches raid mode, and grants or pardons single users. For
// changes of policies, see package policies. The package first puts each change in force in the
// Guard, then records it in the audit log. It answers once the record is stored.
//
// The package does not know the chat, the dashboard or the store. It reaches them only through the
// funcs and small interfaces below.
package control

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/policies"
)

// Options configure Controls. Guard, Policies and Store are required.
type Options struct {
	Guard *chatguard.Guard
	// Policies are those of the Guard. Their followers are also notified of the changes that
	// Controls make, and switches are shared with the same nodes.
	Policies *policies.Policies
	Store    Store
	// Settings are those of the configuration, for channels whose settings nobody has changed.
	Settings Settings
	// Acceptable returns an error for settings that can't work; it names the key. Nil accepts all.
	Acceptable func(Settings) error

	Log *slog.Logger // nil logs nothing
}

// Chat is the chat in which Controls act. The zero value is no chat.
type Chat struct {
	// User returns the ID and the login of the user with this login or display name. Its errors
	// include ErrNoUser, ErrNoName and ErrNamesakes. If nil, no user is known.
	User func(ctx context.Context, channelID, name string) (id, login string, err error)

	// Lift ends a user's timeout or ban, unless someone other than chatguard gave it. It returns
	// ErrNotSilenced if there is none. Nil means that chatguard gives no penalties.
	Lift func(ctx context.Context, channelID, userID string) error

	// Forgive drops the pending penalties for a user's entries from first to last. If a penalty for
	// them is being carried out, Forgive arranges for it to be undone. It returns the entries whose
	// penalties it dropped, and those whose penalties are under way. Nil means that chatguard gives
	// no penalties.
	Forgive func(channelID, userID string, first, last chatguard.EntryID) (dropped, underWay []chatguard.EntryID)

	// Acts are the timeouts and bans that people give, and the chat modes that they switch.
	Acts Acts
}

// Controls make the changes, each kind with a type of its own.
type Controls struct {
	Switches *ChannelSwitches
	Raids    *Raids
	Settings *ChannelSettings
	Users    *Users
	Notes    *Notes
	Silences *Silences
	Modes    *ChatModes
	Pardons  *Pardons
	Commands *Commands
}

// New returns Controls with all switches off. They act in no chat until Join.
func New(o Options) *Controls {
	if o.Acceptable == nil {
		o.Acceptable = func(Settings) error { return nil }
	}
	records := &records{o.Store, o.Policies.Followers, o.Guard.Now, cmp.Or(o.Log, slog.New(slog.DiscardHandler))}
	over := &overlays{guard: o.Guard, now: o.Guard.Now, switches: map[string]Switches{}, base: o.Settings, settings: map[string]Settings{}}
	last := &lastPardons{}
	c := &Controls{
		Switches: newSwitches(over, records, o.Policies.Shared),
		Settings: &ChannelSettings{overlays: over, records: records, acceptable: o.Acceptable},
		Users:    &Users{guard: o.Guard, records: records, pardons: last},
		Notes:    &Notes{records},
		Silences: &Silences{records: records},
	}
	c.Modes = &ChatModes{records, &c.Silences.acts}
	c.Raids = &Raids{overlays: over, records: records, switches: c.Switches, calmEnds: map[string]time.Time{}}
	c.Pardons = &Pardons{guard: o.Guard, records: records, silences: c.Silences, last: last}
	c.Commands = &Commands{guard: o.Guard, policies: o.Policies, records: records, controls: c}
	c.Join(Chat{})
	return c
}

// Restore loads the stored switches and settings. kept has the settings by channel ID and name.
// Call it before any switch changes.
func (c *Controls) Restore(kept map[string]map[string]string) {
	for channelID, settings := range kept {
		c.Settings.restore(channelID, settings[settingsSetting])
		c.Switches.restore(channelID, settings)
	}
}

// Join makes Controls act in a chat. Call it before the first pardon and the first command.
func (c *Controls) Join(chat Chat) {
	if chat.User == nil {
		chat.User = func(context.Context, string, string) (string, string, error) { return "", "", ErrNoUser }
	}
	c.Commands.user, c.Silences.acts = chat.User, chat.Acts
	c.Pardons.lift, c.Pardons.forgive = chat.Lift, chat.Forgive
}

package doctor

import (
	"context"
	"maps"
	"slices"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/twitch/helix"
	"github.com/chatguard/chatguard/internal/chat/twitchbot"
	"github.com/chatguard/chatguard/internal/persist"
)

// channel is a channel's account on Twitch.
type channel struct {
	helix.Account
	name string // login that the configuration has
}

// checkChannels reports channels that don't exist, that were renamed, or whose name now belongs to
// another account.
func (d *Doctor) checkChannels(ctx context.Context) (list []Finding) {
	if d.helix == nil {
		return skipWithoutToken()
	}
	accounts, err := d.helix.Users(ctx, d.cfg.Twitch.Channels...)
	if err != nil {
		return []Finding{problemFrom(err)}
	}
	moved, err := d.movedChannels(ctx, accounts)
	if err != nil {
		return []Finding{problemFrom(err)}
	}
	d.accounts = []channel{} // not nil, even if there are none
	fix := "correct twitch.channels in " + d.cfg.Path
	for _, login := range d.cfg.Twitch.Channels {
		account, exists := twitchbot.AccountOf(accounts, login)
		was, isMoved := moved[login]
		switch {
		case isMoved && was.Login != "":
			d.accounts = append(d.accounts, channel{was, login})
			list = append(list, problem(fix, "#%s is called %s on Twitch by now, and is read by that name", login, was.Login))
		case isMoved && exists:
			list = append(list, problem(fix+", or add a table [channel."+account.ID+"] if you mean that one", "the name %q is another account's by now: ID %s instead of %s", login, account.ID, was.ID))
		case exists:
			d.accounts = append(d.accounts, channel{account, login})
		default:
			list = append(list, problem(fix, "Twitch has no channel %q", login))
		}
	}
	if len(list) == 0 {
		return []Finding{okFinding("Twitch has %s", channelNames(d.cfg.Twitch.Channels))}
	}
	return list
}

// movedChannels returns the channels that the database knows by a configured name which they no
// longer have. The keys are these names. The login of a channel that Twitch no longer knows is
// empty. accounts are those that have the configured names now.
func (d *Doctor) movedChannels(ctx context.Context, accounts []helix.Account) (map[string]helix.Account, error) {
	if d.unfinished {
		return nil, nil // reading would change the database
	}
	_, logins, err := persist.ReadPolicies(ctx, d.cfg.Database)
	if err != nil {
		return nil, nil // there is none yet, or checkDatabase says what is wrong
	}
	moved := map[string]helix.Account{}
	for _, id := range slices.Sorted(maps.Keys(logins)) {
		login := logins[id]
		now, exists := twitchbot.AccountOf(accounts, login)
		_, isMeant := d.cfg.Channels[now.ID]
		if slices.Contains(d.cfg.Twitch.Channels, login) && now.ID != id && !(exists && isMeant) {
			moved[login] = helix.Account{ID: id}
		}
	}
	var ids []string
	for was := range maps.Values(moved) {
		ids = append(ids, was.ID)
	}
	found, err := d.helix.UsersByID(ctx, ids...)
	for login, was := range moved {
		if i := slices.IndexFunc(found, func(a helix.Account) bool { return a.ID == was.ID }); i >= 0 {
			moved[login] = found[i]
		}
	}
	return moved, err
}

// checkModerator reports the channels where the bot isn't a moderator. That is a problem only if
// the policy enforces.
func (d *Doctor) checkModerator(ctx context.Context) (findings []Finding) {
	switch {
	case d.helix == nil:
		return skipWithoutToken()
	case len(d.accounts) == 0:
		return []Finding{noteFinding("skipped: Twitch has confirmed no channel")}
	}
	me := d.tokens.Status().Identity
	moderates, err := twitchbot.WhereModerator(ctx, d.helix, me.UserID)
	if err != nil {
		return []Finding{problemFrom(err)}
	}
	var where []string
	for _, a := range d.accounts {
		switch policy := d.cfg.PolicyFor(a.name, a.ID); {
		case moderates(a.ID):
			where = append(where, a.Login)
		case policy.Mode == chatguard.ModeEnforce:
			findings = append(findings, problem(twitchbot.ModCommand(me.Login, a.Login), "%s is not a moderator in #%s, so it only observes there", me.Login, a.Login))
		default:
			findings = append(findings, noteFinding("%s is not a moderator in #%s, which isn't needed to observe", me.Login, a.Login))
		}
	}
	if len(where) > 0 {
		slices.Sort(where)
		findings = append(findings, okFinding("%s is a moderator in %s", me.Login, channelNames(where)))
	}
	return findings
}

package reports

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/webhook"
)

// ban is a ban that webhooks don't know yet. It was given by a person, or by chatguard for a
// journal entry.
type ban struct {
	at                time.Time
	channelID, userID string
	by, reason        string
	entry             chatguard.EntryID
	unknown           bool // it isn't known whether the ban was carried out
}

// MaxBans is the maximum number of bans that wait to be reported. Twitch accepts far fewer in the
// time between two reports.
const MaxBans = 5000

// noteBan keeps a ban for the next report.
func (r *Reporter) noteBan(b ban) {
	if !r.options.Webhooks.Wants(webhook.Ban) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.bans) < MaxBans {
		r.bans = append(r.bans, b)
	}
}

// NoteOutcome keeps a ban for the next report if the author of a throttled message was banned, or
// may have been.
func (r *Reporter) NoteOutcome(o journal.Outcome) {
	if o.Action == chatguard.ActionBan && (o.Result == journal.Done || o.Result == journal.Unknown) {
		r.noteBan(ban{at: o.At, entry: o.Entry, unknown: o.Result == journal.Unknown})
	}
}

// NoteInterrupted keeps bans that were pending when the last process ended. From now on, their
// outcome is unknown, so the next process doesn't report them again.
func (r *Reporter) NoteInterrupted(pending []journal.Entry) {
	for i := range pending {
		r.noteBan(ban{at: pending[i].At, entry: pending[i].ID, unknown: true})
	}
}

// ReportBans reports the bans since the last call, in the order of their times. It sends one event
// for each channel, or several if there are many bans. Requests to Twitch run concurrently, so bans
// of the same moment arrive in any order. They are reported in the order of their messages.
func (r *Reporter) ReportBans(ctx context.Context) {
	r.mu.Lock()
	bans := r.bans
	r.bans = nil
	r.mu.Unlock()
	slices.SortStableFunc(bans, func(a, b ban) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.entry, b.entry))
	})
	byChannel, order := map[string][]webhook.BannedUser{}, []string{}
	for _, b := range bans {
		channelID, user := r.describeBan(ctx, b)
		if _, known := byChannel[channelID]; !known {
			order = append(order, channelID)
		}
		byChannel[channelID] = addBan(byChannel[channelID], user)
	}
	for _, id := range order {
		for users := byChannel[id]; len(users) > 0; {
			n := min(len(users), webhook.MaxBans)
			r.send(id, webhook.Event{Kind: webhook.Ban, At: users[n-1].At, Bans: users[:n]})
			users = users[n:]
		}
	}
}

// addBan adds a user to a list. If the list has a ban of this user by the same person, the two
// become one, because a ban for several messages has an entry for each. Users whose IDs are
// missing, because the database can't be read, are all added.
func addBan(list []webhook.BannedUser, user webhook.BannedUser) []webhook.BannedUser {
	i := slices.IndexFunc(list, func(other webhook.BannedUser) bool {
		return other.UserID == user.UserID && other.By == user.By && user.UserID != ""
	})
	if i < 0 {
		return append(list, user)
	}
	list[i].Unknown = list[i].Unknown && user.Unknown
	return list
}

// describeBan looks up who was banned. If the database can't be read, IDs or names are missing.
func (r *Reporter) describeBan(ctx context.Context, b ban) (channelID string, user webhook.BannedUser) {
	store := r.options.Store
	if b.entry != 0 {
		e, _, err := store.Entry(ctx, b.entry)
		if err != nil {
			r.options.Log.Warn("a webhook isn't told whom chatguard has banned, because the journal can't be read", "entry", b.entry, "error", err)
		}
		return e.ChannelID, webhook.BannedUser{UserID: e.UserID, Login: e.Login, DisplayName: e.DisplayName, At: b.at.UTC(), Limit: e.Limit, Unknown: b.unknown}
	}
	user = webhook.BannedUser{UserID: b.userID, At: b.at.UTC(), By: b.by, Reason: b.reason}
	person, _, err := store.Person(ctx, b.channelID, b.userID)
	if err != nil {
		r.options.Log.Warn("a webhook isn't told the name of a banned user, because the database can't be read", "user", b.userID, "error", err)
	}
	user.Login, user.DisplayName = person.Login, person.DisplayName
	return b.channelID, user
}

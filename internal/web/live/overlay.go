package live

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/penalties"
)

const (
	// maxOverlayUsers is the maximum number of users that an Overlay names. It is more than an
	// overlay shows, because a streamer can leave users out.
	maxOverlayUsers = 50
	// maxOverlayName is the maximum length of a name in an Overlay, in bytes.
	maxOverlayName = 100
)

// Overlay is what a stream shows about a channel, as in the API. Everybody may see it.
type Overlay struct {
	Channel string `json:"channel"`
	Login   string `json:"login"`
	// ThrottledUsers is the number of users whom a limit throttles now. Users whom a limit only
	// observes count if the whole channel observes.
	ThrottledUsers int           `json:"throttled_users"`
	Users          []OverlayUser `json:"users"` // the last ones, newest first
	RaidUntil      time.Time     `json:"raid_until,omitzero"`
	Paused         bool          `json:"paused"`
	Observing      bool          `json:"observing"` // nobody is throttled
}

// OverlayUser is a user whom a limit throttles now, or who was throttled within Recent.
type OverlayUser struct {
	UserID   string    `json:"user_id"`
	Name     string    `json:"name"` // one line without control characters
	At       time.Time `json:"at"`   // last throttled message
	Held     bool      `json:"held"`
	TimedOut bool      `json:"timed_out"` // or banned
}

// Overlay returns what a stream shows about a served channel.
func (m *Model) Overlay(channel Channel) Overlay {
	now := m.opts.Guard.Now()
	m.board.expire(now)
	o := Overlay{
		Channel: channel.ID, Login: channel.Login, Users: []OverlayUser{}, // never null in JSON
		RaidUntil: channel.RaidUntil, Paused: channel.PausedBy != "",
		Observing: m.Observes(channel.ID),
	}
	count, newest := m.board.newest(channel.ID, maxOverlayUsers, func(t *Throttled) bool { return t.Total > 0 && (o.Observing || !t.Observed) })
	o.ThrottledUsers = count
	for _, r := range newest {
		o.Users = append(o.Users, OverlayUser{UserID: r.UserID, Name: r.overlayName(), At: r.At, Held: r.limited, TimedOut: r.isPunished() || r.Silenced != nil})
	}
	return o
}

// overlayName returns the user's name as one line of visible text.
func (t *Throttled) overlayName() string {
	for _, name := range []string{t.DisplayName, t.Login} {
		line := hostile.OneLine(hostile.Visible(name), maxOverlayName)
		if strings.ContainsFunc(line, isSeen) {
			return hostile.Clip(line, maxOverlayName)
		}
	}
	return hostile.Clip(hostile.Visible(t.UserID), maxOverlayName)
}

// isSeen reports whether a character alone can be seen.
func isSeen(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsPunct(r) || unicode.IsSymbol(r)
}

// isPunished reports whether the last message got a timeout or a ban, or is about to.
func (t *Throttled) isPunished() bool {
	action := t.Penalty.Action
	switch {
	case t.Observed || t.Outcome.Result == journal.Failed || t.Outcome.Result == journal.Skipped:
		return false
	case t.Outcome.Result == journal.Done:
		action = t.Outcome.Action // may be weaker than the penalty, or one timeout for several messages
	}
	return penalties.Silences(action)
}

// newest returns how many wanted users of a channel a limit throttles. It also returns the wanted
// users who were throttled last, newest first. The parameter most limits their number.
func (b *board) newest(channel string, most int, isWanted func(*Throttled) bool) (held int, newest []row) {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := make([]*row, 0, most+1)
	for _, r := range b.rows {
		if r.Channel != channel || !isWanted(&r.Throttled) {
			continue
		}
		if r.limited {
			held++
		}
		if len(found) == most && compareNewest(r, found[most-1]) >= 0 {
			continue
		}
		i, _ := slices.BinarySearchFunc(found, r, compareNewest)
		found = slices.Insert(found, i, r)[:min(len(found)+1, most)]
	}
	for _, r := range found {
		newest = append(newest, *r)
	}
	return held, newest
}

// compareNewest orders users by their last throttled message, the newest first.
func compareNewest(a, b *row) int {
	return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.UserID, b.UserID))
}

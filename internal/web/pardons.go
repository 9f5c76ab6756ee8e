package web

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web/access"
)

// shownEntry is an entry as sent to callers, with its pardon if there is one.
type shownEntry struct {
	journal.Entry
	Pardoned *pardonNote `json:"pardoned,omitempty"` // omitted if nobody pardoned the entry
}

// pardonNote says who pardoned an entry and when.
type pardonNote struct {
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// mostPardons is the maximum number of pardons read for a page of entries. An entry may have
// several, because a pardon can be undone and given again.
const mostPardons = 10_000

// addPardons adds to each entry its pardon, if there is one. It uses a single query.
func addPardons(ctx context.Context, store Records, entries []journal.Entry) ([]shownEntry, error) {
	shown := make([]shownEntry, len(entries)) // an empty list in JSON, never null
	if len(entries) == 0 {
		return shown, nil
	}
	keys := make([]journal.EntryKey, len(entries))
	for i, e := range entries {
		keys[i] = journal.EntryKey{ID: e.ID, ChannelID: e.ChannelID, UserID: e.UserID}
	}
	changes, err := store.Audits(ctx, journal.AuditFilter{Pardoned: keys, N: mostPardons})
	if err != nil {
		return nil, err
	}
	inForce := pardonsInForce(changes)
	for i, e := range entries {
		shown[i] = shownEntry{e, noteOf(inForce, e)}
	}
	return shown, nil
}

// pardonsInForce returns those pardons in changes that have not been undone. changes must be sorted
// newest first.
func pardonsInForce(changes []journal.Audit) (inForce []journal.Audit) {
	undone := map[int64]bool{} // by ID
	for _, a := range changes {
		detail, _ := journal.DetailOf[journal.EntryPardonDetail](a) // a run's detail has the ID, too
		switch {
		case a.Action == journal.UserUnpardoned:
			undone[detail.Pardon] = true
		case detail.Pardon == 0 || !undone[detail.Pardon]:
			inForce = append(inForce, a)
		}
	}
	return inForce
}

// noteOf returns the latest pardon of an entry, or nil if there is none.
func noteOf(pardons []journal.Audit, e journal.Entry) *pardonNote {
	for _, a := range pardons {
		first, last, ok := journal.PardonedEntries(a)
		if ok && first <= e.ID && e.ID <= last && a.ChannelID == e.ChannelID && a.UserID == e.UserID {
			return &pardonNote{a.Author, a.At}
		}
	}
	return nil
}

// pardonedUser is the answer to a request that pardons a user.
type pardonedUser struct {
	journal.Pardon
	// Held is the limit that still throttles the user. It is omitted if the user may write now.
	Held  *throttlingLimit `json:"held,omitempty"`
	Saved bool             `json:"saved"`
}

// throttlingLimit describes the limit that throttles a user.
type throttlingLimit struct {
	Limit      string              `json:"limit"`
	Algorithm  chatguard.Algorithm `json:"algorithm"`
	Per        chatguard.Scope     `json:"per"`
	MaySpeakAt time.Time           `json:"may_speak_at,omitzero"`
	Never      bool                `json:"never"`
}

// unpardoned is the answer to a request that undoes a pardon.
type unpardoned struct {
	journal.Undone
	Saved bool `json:"saved"`
}

// pardonUser is POST /channels/{channel}/users/{id}/pardon.
func (h *amendments) pardonUser(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	return amend(h, w, r, who, func(ctx context.Context, t journal.Target) (done pardonedUser, err error) {
		if done.Pardon, done.Saved, err = h.controls.Pardons.PardonUser(ctx, t); err != nil {
			return done, err
		}
		done.Held, err = h.findThrottlingLimit(ctx, t)
		return done, err
	})
}

// unpardonUser is DELETE …/pardon/{pardon}.
func (h *amendments) unpardonUser(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	id, err := strconv.ParseInt(r.PathValue("pardon"), 10, 64)
	if err != nil {
		return errControls(control.ErrNoUndo)
	}
	return amend(h, w, r, who, func(ctx context.Context, t journal.Target) (done unpardoned, err error) {
		done.Undone, done.Saved, err = h.controls.Pardons.Undo(ctx, t, id)
		return done, err
	})
}

// findThrottlingLimit returns the limit that throttles a user now. It assumes the roles with which
// the user was last seen. It returns nil if the user may write.
func (h *amendments) findThrottlingLimit(ctx context.Context, t journal.Target) (*throttlingLimit, error) {
	last, _ := h.users.channels.model.LastThrottled(t.ChannelID, t.UserID)
	roles := last.User.Roles
	if len(roles) == 0 {
		// If the database is failing, assume that the user has no roles.
		if person, _, err := h.users.store.Person(ctx, t.ChannelID, t.UserID); err == nil {
			roles = person.Roles
		}
	}
	e, err := h.users.explain(ctx, t.ChannelID, t.UserID, roles)
	if err != nil || e.Verdict.Allowed {
		return nil, err
	}
	held := throttlingLimit{Limit: e.Verdict.Limit, MaySpeakAt: journal.MaySpeakAt(e.Verdict), Never: e.Verdict.Never}
	for _, l := range e.Limits {
		if l.Name == held.Limit {
			held.Algorithm, held.Per = l.Algorithm, l.Per
		}
	}
	return &held, nil
}

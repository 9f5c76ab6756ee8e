package web

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// shownEntry is an entry as it is told, with whether it is forgiven.
type shownEntry struct {
	journal.Entry
	Pardoned *pardonNote `json:"pardoned,omitempty"` // left out where nobody has pardoned it
}

// pardonNote says who has pardoned an entry, and when.
type pardonNote struct {
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// mostPardons bounds the pardons that are read for a page of entries: one may have been pardoned, undone and pardoned again.
const mostPardons = 10_000

// withPardons looks up, at once, who has pardoned which of the entries.
func (s *Server) withPardons(ctx context.Context, entries []journal.Entry) ([]shownEntry, error) {
	shown := make([]shownEntry, len(entries)) // in JSON an empty list, never null
	if len(entries) == 0 {
		return shown, nil
	}
	keys := make([]journal.EntryKey, len(entries))
	for i, e := range entries {
		keys[i] = journal.EntryKey{ID: e.ID, ChannelID: e.ChannelID, UserID: e.UserID}
	}
	changes, err := s.opts.Store.Audits(ctx, journal.AuditFilter{Pardoned: keys, N: mostPardons})
	if err != nil {
		return nil, err
	}
	inForce := pardonsInForce(changes)
	for i, e := range entries {
		shown[i] = shownEntry{e, noteOf(inForce, e)}
	}
	return shown, nil
}

// pardonsInForce are the pardons among changes, the newest first, that nobody has undone.
func pardonsInForce(changes []journal.Audit) (inForce []journal.Audit) {
	undone := map[string]bool{} // by ID
	for _, a := range changes {
		detail, _ := a.Detail.(map[string]any)
		id, isRun := detail["pardon"]
		switch {
		case a.Action == journal.UserUnpardoned:
			undone[fmt.Sprint(id)] = true
		case !isRun || !undone[fmt.Sprint(id)]:
			inForce = append(inForce, a)
		}
	}
	return inForce
}

// noteOf says who has pardoned an entry last; nil if nobody has.
func noteOf(pardons []journal.Audit, e journal.Entry) *pardonNote {
	for _, a := range pardons {
		first, last, ok := journal.PardonedEntries(a)
		if ok && first <= e.ID && e.ID <= last && a.ChannelID == e.ChannelID && a.UserID == e.UserID {
			return &pardonNote{a.Author, a.At}
		}
	}
	return nil
}

// pardonedUser is what the pardon of a user is answered with.
type pardonedUser struct {
	journal.Pardon
	Held  *heldBy `json:"held,omitempty"` // by what the user is held back all the same; left out if they may write now
	Saved bool    `json:"saved"`
}

// heldBy is what holds a user back.
type heldBy struct {
	Limit      string              `json:"limit"`
	Algorithm  chatguard.Algorithm `json:"algorithm"`
	Per        chatguard.Scope     `json:"per"`
	MaySpeakAt time.Time           `json:"may_speak_at,omitzero"`
	Never      bool                `json:"never"`
}

// unpardoned is what undoing that is answered with.
type unpardoned struct {
	journal.Undone
	Saved bool `json:"saved"`
}

// pardonUser is POST /channels/{channel}/users/{id}/pardon.
func (s *Server) pardonUser(w http.ResponseWriter, r *http.Request, who caller) error {
	return amendAs(s, w, r, who, func(ctx context.Context, t journal.Target) (done pardonedUser, err error) {
		if done.Pardon, done.Saved, err = s.opts.Controls.PardonUser(ctx, t); err != nil {
			return done, err
		}
		done.Held, err = s.heldBy(ctx, t)
		return done, err
	})
}

// unpardonUser is DELETE …/pardon/{pardon}.
func (s *Server) unpardonUser(w http.ResponseWriter, r *http.Request, who caller) error {
	id, err := strconv.ParseInt(r.PathValue("pardon"), 10, 64)
	if err != nil {
		return errAmend(journal.ErrNoUndo)
	}
	return amendAs(s, w, r, who, func(ctx context.Context, t journal.Target) (done unpardoned, err error) {
		done.Undone, done.Saved, err = s.opts.Controls.Unpardon(ctx, t, id)
		return done, err
	})
}

// heldBy says what holds a user back now, under the roles they were last seen with; nil if nothing does.
func (s *Server) heldBy(ctx context.Context, t journal.Target) (*heldBy, error) {
	roles := chatguard.Roles(0)
	if r, ok := s.board.find(t.ChannelID, t.UserID); ok && r.roles != 0 {
		roles = r.roles
	} else if person, _, err := s.opts.Store.Person(ctx, t.ChannelID, t.UserID); err == nil { // else as if they had none
		roles = person.Roles
	}
	e, err := s.explain(t.ChannelID, t.UserID, roles)
	if err != nil || e.Verdict.Allowed {
		return nil, err
	}
	held := heldBy{Limit: e.Verdict.Limit, MaySpeakAt: e.Verdict.MaySpeakAt(), Never: e.Verdict.Never}
	for _, l := range e.Limits {
		if l.Name == held.Limit {
			held.Algorithm, held.Per = l.Algorithm, l.Per
		}
	}
	return &held, nil
}

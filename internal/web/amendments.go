package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
	"github.com/chatguard/chatguard/shared"
)

// amended is the answer to a change of a user.
type amended struct {
	// Saved is false if the change is in force but a restart now would lose it.
	Saved bool      `json:"saved"`
	Until time.Time `json:"until,omitzero"` // when the change ends by itself

	// OverrideETag is the ETag of the user's current override, if the change affected it.
	OverrideETag string `json:"override_etag,omitempty"`
	// Former is the override before the change. A caller can restore it with the ETag to undo the
	// change.
	Former *chatguard.UserOverride `json:"former,omitempty"`
}

// grantWanted is the body of a request for a grant.
type grantWanted struct {
	Limit    string `json:"limit,omitempty"` // empty: the first daily limit
	Messages int    `json:"messages"`
}

// amendments answers requests that change single users.
type amendments struct {
	users    *users
	controls *control.Controls // never nil; its fields are nil if there are no Controls
}

// grant is POST /channels/{channel}/users/{id}/grant. A grant in a limit across all channels needs
// access to the whole installation.
func (h *amendments) grant(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	var wanted grantWanted
	if err := problem.ReadJSON(w, r, &wanted); err != nil {
		return err
	}
	return amend(h, w, r, who, func(ctx context.Context, t journal.Target) (done amended, err error) {
		if h.controls.Users.GrantsEverywhere(t.ChannelID, wanted.Limit) {
			if err := access.CheckAll(who, auth.Help); err != nil {
				return done, err
			}
		}
		done.Until, done.Saved, err = h.controls.Users.Grant(ctx, t, wanted.Limit, wanted.Messages)
		return done, err
	})
}

// reset is POST …/reset.
func (h *amendments) reset(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	return amend(h, w, r, who, func(ctx context.Context, t journal.Target) (done amended, err error) {
		done.Saved, err = h.controls.Users.Reset(ctx, t)
		return done, err
	})
}

// exempt is POST …/exempt. The optional body gives a duration: {"for": "10m"}, {"for": "2d"}. An
// exemption that already lasts longer is kept, and the answer says when it ends.
func (h *amendments) exempt(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	length, err := lengthAsked(w, r)
	if err != nil {
		return err
	}
	return amend(h, w, r, who, func(ctx context.Context, t journal.Target) (amended, error) {
		done, err := h.controls.Users.Exempt(ctx, t, parseTags(r.Header.Get("If-Match")), length)
		answer := changedOverride(done)
		answer.Until = done.Now.ExemptUntil
		return answer, err
	})
}

// byRole is the zero Exemption in a request that doesn't leave it out.
const byRole chatguard.Exemption = "by-role"

// putOverride is PUT …/override. It replaces the user's whole override. With If-Match, it replaces
// only the override that the caller knows. Without moderate access, it changes only the exemption.
func (h *amendments) putOverride(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	var own chatguard.UserOverride
	if err := problem.ReadJSON(w, r, &own); err != nil {
		return err
	}
	if own.Exempt == byRole {
		own.Exempt = ""
	}
	return h.setOverride(w, r, who, own)
}

// deleteOverride is DELETE …/override.
func (h *amendments) deleteOverride(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	return h.setOverride(w, r, who, chatguard.UserOverride{})
}

func (h *amendments) setOverride(w http.ResponseWriter, r *http.Request, who access.Caller, own chatguard.UserOverride) error {
	set := h.controls.Users.SetOverride
	if !who.Access.Allows(auth.Moderate) {
		set = h.controls.Users.SetExemption
	}
	return amend(h, w, r, who, func(ctx context.Context, t journal.Target) (amended, error) {
		done, err := set(ctx, t, parseTags(r.Header.Get("If-Match")), own)
		if errors.Is(err, control.ErrMoreThanExemption) {
			err = problem.New(http.StatusForbidden, "%s has %s access; changing more than the exemption needs moderate access.", who.Name, who.Access)
		}
		return changedOverride(done), err
	})
}

// changedOverride returns the answer to a change of a user's override. It says how to undo the
// change.
func changedOverride(done control.Overridden) amended {
	return amended{Saved: done.Saved, OverrideETag: policies.Tag(done.Now), Former: &done.Former}
}

// amend changes the user named by the request's path, and answers with the result of change.
func amend[T any](h *amendments, w http.ResponseWriter, r *http.Request, who access.Caller, change func(context.Context, journal.Target) (T, error)) error {
	if h.controls.Users == nil {
		return errNoControls()
	}
	channel, user, err := h.users.pathUser(r)
	if err != nil {
		return err
	}
	done, err := change(r.Context(), journal.Target{ChannelID: channel, UserID: user, Author: who.Author()})
	if errors.As(err, new(*problem.Problem)) {
		return err
	}
	if err != nil {
		return errControls(err)
	}
	return problem.WriteJSON(w, done)
}

// pardonedEntry is the answer to a request that pardons an entry.
type pardonedEntry struct {
	Saved     bool      `json:"saved"`
	Pardon    int64     `json:"pardon,omitempty"`
	UndoUntil time.Time `json:"undo_until,omitzero"`
}

// pardon is POST /journal/{entry}/pardon.
func (h *amendments) pardon(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	if h.controls.Users == nil {
		return errNoControls()
	}
	entry, err := strconv.ParseInt(r.PathValue("entry"), 10, 64)
	if err != nil {
		return errControls(control.ErrNoEntry)
	}
	done, saved, err := h.controls.Pardons.PardonEntry(r.Context(), chatguard.EntryID(entry), who.Author())
	if err != nil {
		return errControls(err)
	}
	answer := pardonedEntry{Saved: saved}
	if !done.Again { // an earlier pardon may cover more entries
		answer.Pardon, answer.UndoUntil = done.ID, done.UndoUntil
	}
	return problem.WriteJSON(w, answer)
}

func errNoControls() error {
	return problem.New(http.StatusNotImplemented, "Users can't be changed: this chatguard moderates no chat.")
}

// errShared returns the problem for a change that the shared store has not confirmed, or nil for
// any other error.
func errShared(err error) error {
	switch {
	case errors.Is(err, shared.ErrAway):
		return problem.New(http.StatusServiceUnavailable, "The shared store doesn't answer: nothing was changed. Try again when it is back.").BecauseOfOutage(err)
	case errors.Is(err, shared.ErrRefused):
		return problem.New(http.StatusServiceUnavailable, "The shared store refuses changes: nothing was changed. Try again when it accepts them.").Because(err)
	case errors.Is(err, shared.ErrUnconfirmed):
		return problem.New(http.StatusServiceUnavailable, "The shared store's reply was lost: the change may have been made. Look before you repeat it.").Because(err).AsUnconfirmed()
	}
	return nil
}

// errControls converts an error of package control to the answer.
func errControls(err error) error {
	if shared := errShared(err); shared != nil {
		return shared
	}
	if e, ok := errors.AsType[control.SilencedError](err); ok {
		refused := errRefused(http.StatusConflict, err)
		refused.Silenced = &e.Silence
		return refused
	}
	status := http.StatusUnprocessableEntity
	switch {
	case errors.Is(err, control.ErrExemption):
		return problem.New(status, "An exemption lasts at most a year. For a permanent one, leave out the duration.")
	case errors.Is(err, policies.ErrStale):
		return problem.New(http.StatusPreconditionFailed, "Someone else changed this user's custom limits. Load them again, then repeat your change.")
	case errors.Is(err, control.ErrNoEntry), errors.Is(err, control.ErrNoNote):
		status = http.StatusNotFound
	case errors.Is(err, control.ErrNoUndo), errors.Is(err, inner.ErrPardonStale):
		status = http.StatusConflict
	case errors.Is(err, control.ErrStore), errors.Is(err, control.ErrSilenced):
		status = http.StatusServiceUnavailable
	case errors.Is(err, control.ErrUnanswered):
		return errRefused(http.StatusServiceUnavailable, err).AsUnconfirmed()
	}
	return errRefused(status, err)
}

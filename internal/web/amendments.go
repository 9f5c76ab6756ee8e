package web

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// longestExempt is the maximum duration of a temporary exemption.
const longestExempt = 365 * 24 * time.Hour

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
	guard    *chatguard.Guard
	controls *control.Controls // nil if there are none

	override sync.Mutex // held while a user's override is changed
}

// grant is POST /channels/{channel}/users/{id}/grant.
func (h *amendments) grant(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	var wanted grantWanted
	if err := problem.ReadJSON(w, r, &wanted); err != nil {
		return err
	}
	return h.amend(w, r, who, func(ctx context.Context, t journal.Target) (done amended, err error) {
		done.Until, done.Saved, err = h.controls.Grant(ctx, t, wanted.Limit, wanted.Messages)
		return done, err
	})
}

// reset is POST …/reset.
func (h *amendments) reset(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	return h.amend(w, r, who, func(ctx context.Context, t journal.Target) (done amended, err error) {
		done.Saved, err = h.controls.Reset(ctx, t)
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
	if length < 0 || length > longestExempt {
		return problem.New(http.StatusUnprocessableEntity, "An exemption lasts at most a year. For a permanent one, leave out the duration.")
	}
	return h.changeOverride(w, r, who, func(ctx context.Context, t journal.Target) (done amended, err error) {
		if done.Saved, err = h.controls.Exempt(ctx, t, length); err != nil {
			return done, err
		}
		own, err := h.guard.UserOverride(t.ChannelID, t.UserID)
		done.Until = own.ExemptUntil
		return done, err
	})
}

// putOverride is PUT …/override. It replaces the user's whole override. With If-Match, it replaces
// only the override that the caller knows.
func (h *amendments) putOverride(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	var own chatguard.UserOverride
	if err := problem.ReadJSON(w, r, &own); err != nil {
		return err
	}
	return h.setOverride(w, r, who, own)
}

// deleteOverride is DELETE …/override.
func (h *amendments) deleteOverride(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	return h.setOverride(w, r, who, chatguard.UserOverride{})
}

func (h *amendments) setOverride(w http.ResponseWriter, r *http.Request, who access.Caller, own chatguard.UserOverride) error {
	return h.changeOverride(w, r, who, func(ctx context.Context, t journal.Target) (done amended, err error) {
		done.Saved, err = h.controls.SetOverride(ctx, t, own)
		return done, err
	})
}

// changeOverride changes a user's override if the request's If-Match allows it. The answer says how
// to undo the change.
func (h *amendments) changeOverride(w http.ResponseWriter, r *http.Request, who access.Caller, change func(context.Context, journal.Target) (amended, error)) error {
	return h.amend(w, r, who, func(ctx context.Context, t journal.Target) (done amended, err error) {
		h.override.Lock()
		defer h.override.Unlock()
		former, err := h.guard.UserOverride(t.ChannelID, t.UserID)
		if err != nil {
			return done, err
		}
		if match := parseTags(r.Header.Get("If-Match")); match != nil && !slices.Contains(match, control.Tag(former)) {
			return done, problem.New(http.StatusPreconditionFailed, "Someone else changed this user's custom limits. Load them again, then repeat your change.")
		}
		if done, err = change(ctx, t); err != nil {
			return done, err
		}
		now, err := h.guard.UserOverride(t.ChannelID, t.UserID)
		done.OverrideETag, done.Former = control.Tag(now), &former
		return done, err
	})
}

// amend changes the user named by the request's path.
func (h *amendments) amend(w http.ResponseWriter, r *http.Request, who access.Caller, change func(context.Context, journal.Target) (amended, error)) error {
	return amendAs(h, w, r, who, change)
}

// amendAs is amend for a change with an answer of another type.
func amendAs[T any](h *amendments, w http.ResponseWriter, r *http.Request, who access.Caller, change func(context.Context, journal.Target) (T, error)) error {
	if h.controls == nil {
		return errNoControls()
	}
	channel, user, err := h.users.pathUser(r)
	if err != nil {
		return err
	}
	ctx, cancel := control.UntilKept(r.Context())
	defer cancel()
	done, err := change(ctx, journal.Target{ChannelID: channel, UserID: user, Author: who.Name})
	if err != nil {
		return errAmend(err)
	}
	return problem.WriteJSON(w, done)
}

// pardon is POST /journal/{entry}/pardon.
func (h *amendments) pardon(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	if h.controls == nil {
		return errNoControls()
	}
	entry, err := strconv.ParseInt(r.PathValue("entry"), 10, 64)
	if err != nil {
		return errAmend(journal.ErrNoEntry)
	}
	ctx, cancel := control.UntilKept(r.Context())
	defer cancel()
	saved, err := h.controls.Pardon(ctx, chatguard.EntryID(entry), who.Name)
	if err != nil {
		return errAmend(err)
	}
	return problem.WriteJSON(w, amended{Saved: saved})
}

func errNoControls() error {
	return problem.New(http.StatusNotImplemented, "Users can't be changed: this chatguard moderates no chat.")
}

// errAmend converts an error of control.Controls to the answer.
func errAmend(err error) error {
	if p := (*problem.Problem)(nil); errors.As(err, &p) {
		return p
	}
	status := http.StatusUnprocessableEntity
	switch {
	case errors.Is(err, journal.ErrNoEntry):
		status = http.StatusNotFound
	case errors.Is(err, journal.ErrNoUndo), errors.Is(err, chatguard.ErrPardonStale):
		status = http.StatusConflict
	case errors.Is(err, journal.ErrStore), errors.Is(err, journal.ErrSilenced):
		status = http.StatusServiceUnavailable
	}
	return problem.New(status, "%s", err)
}

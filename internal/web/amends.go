package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// longestExempt is the longest exemption that ends by itself.
const longestExempt = 365 * 24 * time.Hour

// amended is what a change of a user is answered with.
type amended struct {
	Saved bool      `json:"saved"`          // false: in force all the same, and a restart now would undo it
	Until time.Time `json:"until,omitzero"` // when it ends by itself

	OverrideETag string                  `json:"override_etag,omitempty"` // of what the user has of their own now, where that was changed
	Former       *chatguard.UserOverride `json:"former,omitempty"`        // what they had before: with that and the ETag it can be undone
}

// grantWanted is what a grant is asked for with.
type grantWanted struct {
	Limit    string `json:"limit,omitempty"` // empty: the first that counts by days
	Messages int    `json:"messages"`
}

// grant is POST /channels/{channel}/users/{id}/grant.
func (s *Server) grant(w http.ResponseWriter, r *http.Request, who caller) error {
	var wanted grantWanted
	if err := readJSON(w, r, &wanted); err != nil {
		return err
	}
	return s.amend(w, r, who, func(ctx context.Context, t journal.Target) (done amended, err error) {
		done.Until, done.Saved, err = s.opts.Controls.Grant(ctx, t, wanted.Limit, wanted.Messages)
		return done, err
	})
}

// reset is POST …/reset.
func (s *Server) reset(w http.ResponseWriter, r *http.Request, who caller) error {
	return s.amend(w, r, who, func(ctx context.Context, t journal.Target) (done amended, err error) {
		done.Saved, err = s.opts.Controls.Reset(ctx, t)
		return done, err
	})
}

// exempt is POST …/exempt, which may say for how long: {"for": "10m"}, {"for": "2d"}. An exemption that lasts longer already stays, and the answer
// tells its end.
func (s *Server) exempt(w http.ResponseWriter, r *http.Request, who caller) error {
	length, err := lengthAsked(w, r)
	if err != nil {
		return err
	}
	if length < 0 || length > longestExempt {
		return refuse(http.StatusUnprocessableEntity, "An exemption lasts for up to a year, or for good where no length is given.")
	}
	return s.changeOverride(w, r, who, func(ctx context.Context, t journal.Target) (done amended, err error) {
		if done.Saved, err = s.opts.Controls.Exempt(ctx, t, length); err != nil {
			return done, err
		}
		own, err := s.opts.Guard.UserOverride(t.ChannelID, t.UserID)
		done.Until = own.ExemptUntil
		return done, err
	})
}

// putOverride is PUT …/override: it takes the place of all that the user had of their own. With If-Match it does so only where that is still what
// whoever sends it knows.
func (s *Server) putOverride(w http.ResponseWriter, r *http.Request, who caller) error {
	var own chatguard.UserOverride
	if err := readJSON(w, r, &own); err != nil {
		return err
	}
	return s.setOverride(w, r, who, own)
}

// deleteOverride is DELETE …/override.
func (s *Server) deleteOverride(w http.ResponseWriter, r *http.Request, who caller) error {
	return s.setOverride(w, r, who, chatguard.UserOverride{})
}

func (s *Server) setOverride(w http.ResponseWriter, r *http.Request, who caller, own chatguard.UserOverride) error {
	return s.changeOverride(w, r, who, func(ctx context.Context, t journal.Target) (done amended, err error) {
		done.Saved, err = s.opts.Controls.SetOverride(ctx, t, own)
		return done, err
	})
}

// changeOverride changes what a user has of their own, where the request's If-Match allows that, and says how it is undone.
func (s *Server) changeOverride(w http.ResponseWriter, r *http.Request, who caller, change func(context.Context, journal.Target) (amended, error)) error {
	return s.amend(w, r, who, func(ctx context.Context, t journal.Target) (done amended, err error) {
		s.override.Lock()
		defer s.override.Unlock()
		former, err := s.opts.Guard.UserOverride(t.ChannelID, t.UserID)
		if err != nil {
			return done, err
		}
		if match := r.Header.Get("If-Match"); match != "" && !matches(match, tagOf(former)) {
			return done, refuse(http.StatusPreconditionFailed, "Somebody else has changed what this user has of their own meanwhile. Look at that first.")
		}
		if done, err = change(ctx, t); err != nil {
			return done, err
		}
		now, err := s.opts.Guard.UserOverride(t.ChannelID, t.UserID)
		done.OverrideETag, done.Former = tagOf(now), &former
		return done, err
	})
}

// amend changes the user that the request's path names.
func (s *Server) amend(w http.ResponseWriter, r *http.Request, who caller, change func(context.Context, journal.Target) (amended, error)) error {
	return amendAs(s, w, r, who, change)
}

// amendAs is amend for a change that is answered with something else.
func amendAs[T any](s *Server, w http.ResponseWriter, r *http.Request, who caller, change func(context.Context, journal.Target) (T, error)) error {
	if s.opts.Controls == nil {
		return errNoControls()
	}
	channel, user, err := s.userOf(r)
	if err != nil {
		return err
	}
	ctx, cancel := untilKept(r.Context())
	defer cancel()
	done, err := change(ctx, journal.Target{ChannelID: channel, UserID: user, Author: who.name})
	if err != nil {
		return errAmend(err)
	}
	return writeJSON(w, done)
}

// pardon is POST /journal/{entry}/pardon.
func (s *Server) pardon(w http.ResponseWriter, r *http.Request, who caller) error {
	if s.opts.Controls == nil {
		return errNoControls()
	}
	entry, err := strconv.ParseInt(r.PathValue("entry"), 10, 64)
	if err != nil {
		return errAmend(journal.ErrNoEntry)
	}
	ctx, cancel := untilKept(r.Context())
	defer cancel()
	saved, err := s.opts.Controls.Pardon(ctx, chatguard.EntryID(entry), who.name)
	if err != nil {
		return errAmend(err)
	}
	return writeJSON(w, amended{Saved: saved})
}

func errNoControls() error {
	return refuse(http.StatusNotImplemented, "Nobody can be given or forgiven anything here: this chatguard acts in no chat.")
}

// errAmend is the error of Amends as an answer.
func errAmend(err error) error {
	if p := (*problem)(nil); errors.As(err, &p) {
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
	return refuse(status, "%s", err)
}

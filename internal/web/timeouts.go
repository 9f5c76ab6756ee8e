package web

import (
	"context"
	"net/http"
	"time"

	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/durations"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/penalties"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// timeoutWanted is the body of a request for a timeout.
type timeoutWanted struct {
	Length string `json:"length"`
	Reason string `json:"reason,omitempty"`
	// Replace confirms that the timeout may replace one that lasts longer.
	Replace bool `json:"replace,omitempty"`
}

// banWanted is the optional body of a request for a ban.
type banWanted struct {
	Reason string `json:"reason,omitempty"`
}

// acted is the answer to a request that times a user out, bans them, or ends that.
type acted struct {
	Silenced *journal.Silence `json:"silenced,omitempty"`
	Before   *journal.Silence `json:"before,omitempty"`
	Already  bool             `json:"already"`
	// Undo is the last part of the address that undoes the act with DELETE, unless another timeout
	// or ban is in force by then.
	Undo  string `json:"undo,omitempty"`
	Saved bool   `json:"saved"`
}

// actedOn returns the answer to an act. undo is the last part of the address that undoes it, empty
// if nothing does.
func actedOn(done control.Acted, undo string) acted {
	if done.Already || done.Silence == nil || undo == "" {
		undo = ""
	} else {
		undo += "?given=" + done.Silence.At.UTC().Format(time.RFC3339Nano)
	}
	return acted{done.Silence, done.Former, done.Already, undo, done.Saved}
}

// timeOut is POST /channels/{channel}/users/{id}/timeout.
func (h *amendments) timeOut(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	var wanted timeoutWanted
	if err := problem.ReadJSON(w, r, &wanted); err != nil {
		return err
	}
	length, err := durations.Parse(wanted.Length)
	if err != nil || length < penalties.MinTimeout || length > penalties.MaxTimeout {
		return problem.New(http.StatusUnprocessableEntity, "\"length\" must be from \"1s\" to \"14d\", such as \"10m\" or \"1h30m\", not %s.", problem.Quote(wanted.Length))
	}
	return amend(h, w, r, who, func(ctx context.Context, t journal.Target) (acted, error) {
		done, err := h.controls.Silences.TimeOut(ctx, t, length, wanted.Reason, wanted.Replace)
		return actedOn(done, "timeout"), err
	})
}

// ban is POST …/ban.
func (h *amendments) ban(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	var wanted banWanted
	if r.ContentLength != 0 {
		if err := problem.ReadJSON(w, r, &wanted); err != nil {
			return err
		}
	}
	return amend(h, w, r, who, func(ctx context.Context, t journal.Target) (acted, error) {
		done, err := h.controls.Silences.Ban(ctx, t, wanted.Reason)
		return actedOn(done, "ban"), err
	})
}

// endTimeout is DELETE …/timeout. With ?given=TIME, it undoes the timeout that the caller gave then.
func (h *amendments) endTimeout(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	return h.lift(w, r, who, false, h.controls.Silences.LiftTimeout)
}

// endBan is DELETE …/ban, as endTimeout is DELETE …/timeout.
func (h *amendments) endBan(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	return h.lift(w, r, who, true, h.controls.Silences.LiftBan)
}

func (h *amendments) lift(
	w http.ResponseWriter, r *http.Request, who access.Caller, ban bool, lift func(context.Context, journal.Target) (control.Acted, error),
) error {
	q := problem.QueryOf(r)
	given := q.Time("given")
	if q.Err != nil {
		return q.Err
	}
	if !given.IsZero() {
		lift = func(ctx context.Context, t journal.Target) (control.Acted, error) {
			return h.controls.Silences.Undo(ctx, t, ban, given)
		}
	}
	return amend(h, w, r, who, func(ctx context.Context, t journal.Target) (acted, error) {
		done, err := lift(ctx, t)
		return actedOn(done, ""), err
	})
}

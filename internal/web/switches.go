package web

import (
	"context"
	"net/http"
	"time"

	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/durations"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// switchedTo is the answer to a request that changes a switch.
type switchedTo struct {
	// Saved is false if the change is in force but a restart now would lose it.
	Saved bool      `json:"saved"`
	Until time.Time `json:"until,omitzero"` // when the change ends by itself
}

// switches answers requests that pause channels or start raid mode.
type switches struct {
	channels channels
	of       *control.ChannelSwitches // nil if there are none
	raids    *control.Raids
}

// pause is POST /channels/{channel}/pause.
func (h *switches) pause(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	return h.turn(w, r, who, h.of.Pause)
}

// resume is POST /channels/{channel}/resume.
func (h *switches) resume(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	return h.turn(w, r, who, h.of.Resume)
}

// endRaid is DELETE /channels/{channel}/raid.
func (h *switches) endRaid(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	return h.turn(w, r, who, h.raids.End)
}

// turn answers a request that turns a switch.
func (h *switches) turn(
	w http.ResponseWriter, r *http.Request, who access.Caller, turn func(ctx context.Context, channelID, author string) (saved bool, err error),
) error {
	channel, err := h.switchedChannel(r)
	if err != nil {
		return err
	}
	saved, err := turn(r.Context(), channel, who.Author())
	if err != nil {
		return errControls(err)
	}
	return problem.WriteJSON(w, switchedTo{Saved: saved})
}

// startRaid is POST /channels/{channel}/raid. The optional body gives a duration: {"for": "10m"}.
func (h *switches) startRaid(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	channel, err := h.switchedChannel(r)
	if err != nil {
		return err
	}
	length, err := lengthAsked(w, r)
	if err != nil {
		return err
	}
	until, saved, err := h.raids.Start(r.Context(), channel, who.Author(), length)
	if err != nil {
		return errControls(err)
	}
	return problem.WriteJSON(w, switchedTo{Saved: saved, Until: until})
}

// lengthWanted is the body of a request that contains a duration.
type lengthWanted struct {
	For *string `json:"for,omitempty"`
}

// lengthAsked returns the duration in a request's body, such as {"for": "10m"}, or 0 if there is
// none.
func lengthAsked(w http.ResponseWriter, r *http.Request) (time.Duration, error) {
	if r.ContentLength == 0 {
		return 0, nil
	}
	var wanted lengthWanted
	if err := problem.ReadJSON(w, r, &wanted); err != nil || wanted.For == nil {
		return 0, err
	}
	length, err := durations.Parse(*wanted.For)
	if err != nil || length == 0 { // 0 would mean the default duration
		return 0, problem.New(http.StatusUnprocessableEntity, "\"for\" must be a duration such as \"10m\", \"1h30m\" or \"2d\", not %s.", problem.Quote(*wanted.For))
	}
	return length, nil
}

// switchedChannel is like channels.pathID, but returns a problem if there are no switches.
func (h *switches) switchedChannel(r *http.Request) (string, error) {
	if h.of == nil {
		return "", problem.New(http.StatusNotImplemented, "Pause and raid mode are unavailable: this chatguard moderates no chat.")
	}
	return h.channels.pathID(r)
}

package web

import (
	"context"
	"net/http"
	"time"

	"github.com/chatguard/chatguard"
)

// Switches lay something over a channel's policy, and take it away again. saved is false where a restart would undo that, because the database
// is in trouble. An error is a sentence for people: about what can't be done, or about what is done and can't be kept.
type Switches interface {
	// Pause makes a channel observe until Resume ends that.
	Pause(ctx context.Context, channelID, author string) (saved bool, err error)
	Resume(ctx context.Context, channelID, author string) (saved bool, err error)
	// StartRaid begins raid mode, and returns when it ends by itself. A length of 0 is the usual one; with one that is refused, until is zero.
	StartRaid(ctx context.Context, channelID, author string, length time.Duration) (until time.Time, saved bool, err error)
	EndRaid(ctx context.Context, channelID, author string) (saved bool, err error)
}

// Changed notes that something else is laid over a channel's policy: soon, everyone on the board there is judged again, and the live feed tells
// of it. It never blocks, so it may be called by whoever holds locks.
func (s *Server) Changed(channelID string) { s.switched.add(channelID) }

// switchedTo is what turning a switch is answered with.
type switchedTo struct {
	Saved bool      `json:"saved"`          // false: in force all the same, and a restart now would undo it
	Until time.Time `json:"until,omitzero"` // when it ends by itself
}

// turns answers requests that turn one of the Switches: POST /channels/{channel}/pause and /resume, DELETE /channels/{channel}/raid.
func (s *Server) turns(turn func(of Switches, ctx context.Context, channelID, author string) (saved bool, err error)) signedInHandler {
	return func(w http.ResponseWriter, r *http.Request, who caller) error {
		channel, err := s.switchedChannel(r)
		if err != nil {
			return err
		}
		ctx, cancel := untilKept(r.Context())
		defer cancel()
		saved, err := turn(s.opts.Controls, ctx, channel, who.name)
		if err != nil {
			return refuse(http.StatusServiceUnavailable, "%s", err)
		}
		return writeJSON(w, switchedTo{Saved: saved})
	}
}

// startRaid is POST /channels/{channel}/raid, which may say for how long: {"for": "10m"}.
func (s *Server) startRaid(w http.ResponseWriter, r *http.Request, who caller) error {
	channel, err := s.switchedChannel(r)
	if err != nil {
		return err
	}
	length, err := lengthAsked(w, r)
	if err != nil {
		return err
	}
	ctx, cancel := untilKept(r.Context())
	defer cancel()
	until, saved, err := s.opts.Controls.StartRaid(ctx, channel, who.name, length)
	switch {
	case err != nil && until.IsZero():
		return refuse(http.StatusUnprocessableEntity, "%s", err)
	case err != nil:
		return refuse(http.StatusServiceUnavailable, "%s", err)
	}
	return writeJSON(w, switchedTo{Saved: saved, Until: until})
}

// lengthWanted is what something is asked for with that lasts for a while.
type lengthWanted struct {
	For *string `json:"for,omitempty"`
}

// lengthAsked is the length of time that a request asks for as {"for": "10m"}; 0 where it doesn't say.
func lengthAsked(w http.ResponseWriter, r *http.Request) (time.Duration, error) {
	if r.ContentLength == 0 {
		return 0, nil
	}
	var wanted lengthWanted
	if err := readJSON(w, r, &wanted); err != nil || wanted.For == nil {
		return 0, err
	}
	length, err := chatguard.ParseDuration(*wanted.For)
	if err != nil || length == 0 { // 0 would be as if it didn't say
		return 0, refuse(http.StatusUnprocessableEntity, "\"for\" is a length of time such as \"10m\", \"1h30m\" or \"2d\", not %s.", quoted(*wanted.For))
	}
	return length, nil
}

// switchedChannel is channelOf where there are Switches.
func (s *Server) switchedChannel(r *http.Request) (string, error) {
	if s.opts.Controls == nil {
		return "", refuse(http.StatusNotImplemented, "Nothing can be paused here: this chatguard acts in no chat.")
	}
	return s.channelOf(r)
}

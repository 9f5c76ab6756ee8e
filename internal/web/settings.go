package web

import (
	"errors"
	"net/http"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// settings answers requests about a channel's settings for raid mode, notices, timeouts and
// moderators.
type settings struct {
	channels channels
	of       *control.ChannelSettings // nil if there are none
}

// settingsShown is the answer with a channel's settings.
type settingsShown struct {
	Settings control.Settings `json:"settings"`
	// IsConfigured reports whether they are the configuration's: nobody has changed them.
	IsConfigured bool `json:"configured"`
}

// settingsSaved is the answer to a change of a channel's settings.
type settingsSaved struct {
	settingsShown

	// Saved is false if the change is in force but a restart now would lose it.
	Saved bool `json:"saved"`
}

// getSettings is GET /channels/{channel}/settings.
func (h *settings) getSettings(w http.ResponseWriter, _ *http.Request, _ access.Caller, channel string) error {
	if h.of == nil {
		return errNoSettings()
	}
	return problem.WriteJSON(w, h.show(w, channel))
}

// show returns a channel's settings, and sends their tag.
func (h *settings) show(w http.ResponseWriter, channel string) settingsShown {
	now, isChanged := h.of.Of(channel)
	w.Header().Set("ETag", policies.Tag(now))
	return settingsShown{now, !isChanged}
}

// putSettings is PUT /channels/{channel}/settings. It replaces all settings, but some callers may
// change only some of them.
func (h *settings) putSettings(w http.ResponseWriter, r *http.Request, who access.Caller, channel string) error {
	if r.Header.Get("If-Match") == "" {
		return problem.New(http.StatusPreconditionRequired, "Send the ETag of the settings you changed as If-Match.")
	}
	var wanted struct { // must be complete, so that nothing is removed by omission
		Raid    *control.Raid    `json:"raid"`
		Notices *control.Notices `json:"notices"`
		// The following are newer than the others, so they may be left out. They then stay
		// unchanged.
		Timeouts   control.Timeouts `json:"timeouts,omitzero"`
		Moderators auth.Access      `json:"moderators,omitempty"`
	}
	if err := problem.ReadJSON(w, r, &wanted); err != nil {
		return err
	}
	if wanted.Raid == nil || wanted.Notices == nil {
		return problem.New(http.StatusUnprocessableEntity, "\"raid\" or \"notices\" is missing: send the complete settings, as GET returns them.")
	}
	return h.change(w, r, who, channel, &control.Settings{
		Raid: *wanted.Raid, Notices: *wanted.Notices, Timeouts: wanted.Timeouts, Moderators: wanted.Moderators,
	})
}

// deleteSettings is DELETE /channels/{channel}/settings. It restores the configuration's settings.
func (h *settings) deleteSettings(w http.ResponseWriter, r *http.Request, who access.Caller, channel string) error {
	return h.change(w, r, who, channel, nil)
}

func (h *settings) change(w http.ResponseWriter, r *http.Request, who access.Caller, channel string, wanted *control.Settings) error {
	if h.of == nil {
		return errNoSettings()
	}
	saved, err := h.of.Set(r.Context(), control.SettingsRequest{
		ChannelID: channel, Author: who.Author(), Match: parseTags(r.Header.Get("If-Match")), Wanted: wanted,
		Allow: func(from, to control.Settings) error { return mayChange(who, from, to) },
	})
	if errors.As(err, new(*problem.Problem)) {
		return err
	}
	if errors.Is(err, policies.ErrStale) {
		return problem.New(http.StatusPreconditionFailed, "Someone else changed these settings. Load them again, then repeat your change.")
	}
	if err != nil {
		return errControls(err)
	}
	return problem.WriteJSON(w, settingsSaved{h.show(w, channel), saved})
}

// mayChange returns a problem if the caller may not change the settings in this way. Everyone who
// may moderate may change raid mode and the usual timeouts.
func mayChange(who access.Caller, from, to control.Settings) error {
	switch {
	case from.Notices != to.Notices && !who.Access.Allows(auth.ModerateNotices):
		return problem.New(http.StatusForbidden, "%s has %s access; changing \"notices\" needs owner access. Raid mode alone can be changed with moderate access.", who.Name, who.Access)
	case from.Moderators != to.Moderators && !who.Access.Allows(auth.Own):
		return problem.New(http.StatusForbidden, "%s has %s access; changing \"moderators\" needs owner access.", who.Name, who.Access)
	}
	return nil
}

func errNoSettings() error {
	return problem.New(http.StatusNotImplemented, "Raid mode and notices can't be set: this chatguard moderates no chat.")
}

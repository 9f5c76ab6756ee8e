package web

import (
	"net/http"

	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// modes answers requests that switch the modes of channels' chats, such as slow mode.
type modes struct {
	of *control.ChatModes // nil if there are none
}

// modesSwitched is the answer to a request that switches chat modes.
type modesSwitched struct {
	// Saved is false if the chat has the modes but the audit may not keep who switched them.
	Saved bool `json:"saved"`
}

// patch is PATCH /channels/{channel}/modes. Modes that the body doesn't name stay as they are.
func (h *modes) patch(w http.ResponseWriter, r *http.Request, who access.Caller, channel string) error {
	if h.of == nil {
		return problem.New(http.StatusNotImplemented, "Chat modes can't be switched: this chatguard moderates no chat.")
	}
	var change journal.ChatModesChange
	if err := problem.ReadJSON(w, r, &change); err != nil {
		return err
	}
	saved, err := h.of.Change(r.Context(), channel, who.Author(), change)
	if err != nil {
		return errControls(err)
	}
	return problem.WriteJSON(w, modesSwitched{saved})
}

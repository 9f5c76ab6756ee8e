package web

import (
	"net/http"
	"strings"

	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/live"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// overlays answers requests of the overlay for streams.
type overlays struct{ channels channels }

// getOverlay is GET /overlay?channel=. Without a channel, it answers for the first one. A caller
// that sends the ETag of what it shows gets a short answer if nothing has changed.
func (h overlays) getOverlay(w http.ResponseWriter, r *http.Request, _ access.Caller) error {
	shown, err := h.shown(r.URL.Query().Get("channel"))
	if err != nil {
		return err
	}
	tag := policies.Tag(shown)
	w.Header().Set("ETag", tag)
	if isCurrent(r, tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	return problem.WriteJSON(w, shown)
}

func (h overlays) shown(id string) (live.Overlay, error) {
	all := h.channels.model.Channels()
	if id == "" && len(all) > 0 {
		id = all[0].ID
	}
	channel, err := h.channels.find(id)
	if err != nil {
		return live.Overlay{}, err
	}
	return h.channels.model.Overlay(channel), nil
}

// isCurrent reports whether the sender of the request already has the content with this tag. Tags
// may be weak, because a proxy that compresses an answer makes its tag weak.
func isCurrent(r *http.Request, tag string) bool {
	for known := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		if strings.TrimPrefix(strings.TrimSpace(known), "W/") == tag {
			return true
		}
	}
	return false
}

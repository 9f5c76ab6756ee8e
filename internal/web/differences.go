package web

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// getDifferences is GET /channels/{channel}/policy/differences: how the stated policy differs from
// the configuration's.
func (h *channelPolicies) getDifferences(w http.ResponseWriter, r *http.Request, _ access.Caller, channel string) error {
	return problem.WriteJSON(w, map[string][]journal.Change{"changes": h.policies.Difference(channel)})
}

// exportPolicy is GET /channels/{channel}/policy/export: the stated policy in the configuration
// file's format.
func (h *channelPolicies) exportPolicy(w http.ResponseWriter, r *http.Request, _ access.Caller) error {
	channel, err := h.channels.find(r.PathValue("channel"))
	if err != nil {
		return err
	}
	if h.export == nil {
		return problem.New(http.StatusNotImplemented, "Limits can't be exported here.")
	}
	text, err := h.export(h.guard.ChannelPolicy(channel.ID))
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/toml")
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="chatguard-%s.toml"`, fileName(channel.Login)))
	w.Write(text) // an error means that the client is gone
	return nil
}

// fileName returns the channel's login without characters that some systems do not allow in file
// names.
func fileName(login string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return -1
	}, strings.ToLower(login))
}

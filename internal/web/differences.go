package web

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/chatguard/chatguard/internal/journal"
)

// getDifferences is GET /channels/{channel}/policy/differences: what the policy as stated differs in from the configuration's.
func (s *Server) getDifferences(w http.ResponseWriter, r *http.Request, _ caller) error {
	channel, err := s.channelOf(r)
	if err != nil {
		return err
	}
	return writeJSON(w, map[string][]journal.Change{"changes": journal.Diff(s.opts.BasePolicy(channel), s.opts.Guard.Policy(channel))})
}

// exportPolicy is GET /channels/{channel}/policy/export: the policy as stated, as the configuration file would have it.
func (s *Server) exportPolicy(w http.ResponseWriter, r *http.Request, _ caller) error {
	channel, err := s.channel(r.PathValue("channel"))
	if err != nil {
		return err
	}
	if s.opts.ExportPolicy == nil {
		return refuse(http.StatusNotImplemented, "Limits can't be exported here.")
	}
	text, err := s.opts.ExportPolicy(s.opts.Guard.Policy(channel.ID))
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/toml")
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="chatguard-%s.toml"`, fileName(channel.Login)))
	w.Write(text) // the reader may be gone
	return nil
}

// fileName is a channel's login as far as every system takes it for a file's name.
func fileName(login string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return -1
	}, strings.ToLower(login))
}

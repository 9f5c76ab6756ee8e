package web

import (
	"net/http"

	"github.com/VictoriaMetrics/metrics"

	"github.com/chatguard/chatguard/internal/journal"
)

// health is what probes are answered with.
type health struct {
	Reasons []string `json:"reasons,omitempty"`
	Status  string   `json:"status"` // ok or unavailable
}

// getHealth is GET /healthz: it answers as long as the process does.
func (s *Server) getHealth(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, health{Status: "ok"})
}

// getReady is GET /readyz: 200 when messages are judged and kept, 503 otherwise. The reasons are for those who are signed in. Whoever starts
// chatguard without a database doesn't want anything kept, so that is no reason. Where another site authorizes, nobody else is told.
func (s *Server) getReady(w http.ResponseWriter, r *http.Request) error {
	if s.opts.Authorize != nil {
		if _, err := s.access.authorized(r); err != nil {
			return err
		}
	}
	reasons := s.unready()
	if len(reasons) == 0 {
		return writeJSON(w, health{Status: "ok"})
	}
	answer := health{Status: "unavailable"}
	if who, err := s.access.identify(r, journal.AccessView); err == nil && who.access.Allows(journal.AccessView) {
		answer.Reasons = reasons
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusServiceUnavailable)
	return writeJSON(w, answer)
}

func (s *Server) unready() []string {
	var reasons []string
	for _, c := range s.connections() {
		if c.State.isTrouble() {
			reasons = append(reasons, reason(c.Name, string(c.State), c.Detail))
		}
	}
	if db := s.database(); db.State == DatabaseFailing {
		reasons = append(reasons, reason("database", string(db.State), db.Detail))
	}
	return reasons
}

func reason(name, state, detail string) string {
	if detail == "" {
		return name + ": " + state
	}
	return name + ": " + state + ": " + detail
}

// getMetrics is GET /metrics, in Prometheus' text form: for those who are signed in, and without a PublicURL for this machine. If the dashboard is
// part of another site, a proxy of that may be on this machine.
func (s *Server) getMetrics(w http.ResponseWriter, r *http.Request) error {
	if s.opts.Authorize == nil && s.opts.Site.isLocal(r) {
		return s.writeMetrics(w)
	}
	return s.signedIn(journal.AccessView, func(w http.ResponseWriter, _ *http.Request, _ caller) error { return s.writeMetrics(w) })(w, r)
}

func (s *Server) writeMetrics(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	s.opts.Metrics.WritePrometheus(w)
	metrics.WriteProcessMetrics(w)
	return nil
}

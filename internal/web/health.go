package web

import (
	"net/http"

	"github.com/VictoriaMetrics/metrics"
)

// getHealth is GET /healthz: it answers as long as the process does.
func (s *Server) getHealth(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, map[string]string{"status": "ok"})
}

// getReady is GET /readyz: 200 when messages are judged and kept, 503 otherwise. The reasons are for those who are signed in. Whoever starts
// chatguard without a database doesn't want anything kept, so that is no reason.
func (s *Server) getReady(w http.ResponseWriter, r *http.Request) error {
	reasons := s.unready()
	if len(reasons) == 0 {
		return writeJSON(w, map[string]string{"status": "ok"})
	}
	answer := map[string]any{"status": "unavailable"}
	if _, err := s.access.identify(w, r); err == nil {
		answer["reasons"] = reasons
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

// getMetrics is GET /metrics, in Prometheus' text form; for those who are signed in, and for this machine.
func (s *Server) getMetrics(w http.ResponseWriter, r *http.Request) error {
	if !isLocal(r) {
		if _, err := s.access.identify(w, r); err != nil {
			return err
		}
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	s.opts.Metrics.WritePrometheus(w)
	metrics.WriteProcessMetrics(w)
	return nil
}

package web

import (
	"net/http"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/live"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// health is the answer to probes.
type health struct {
	Reasons []string `json:"reasons,omitempty"`
	Status  string   `json:"status"` // ok, degraded or unavailable
}

// probes answers monitoring requests.
type probes struct {
	model   *live.Model
	guard   *chatguard.Guard
	access  *access.Authenticator
	site    access.Site
	mounted bool // whether another site authorizes
	metrics *metrics.Set
	leads   func(channelID string) (leads, ok bool) // as Options.Leads; never nil
	// require returns a handler that admits callers with the access that a route needs in its
	// scope.
	require func(auth.Access, access.Scope, access.Handler) problem.Handler
}

// getHealth is GET /healthz. It answers as long as the process is alive.
func getHealth(w http.ResponseWriter, _ *http.Request) error {
	return problem.WriteJSON(w, health{Status: "ok"})
}

// getReady is GET /readyz. The status is 200 if messages are read, judged, acted on and saved,
// otherwise 503. The status is also 200 while the shared store is away or refuses changes, because
// that affects all nodes, and they go on judging. It is also 200 if a certificate must be renewed.
// Only callers who may see the whole installation see the reasons. Running without a database is a
// choice, so it is no reason for 503. If another site authorizes requests, getReady refuses callers
// that the site does not know.
func (h *probes) getReady(w http.ResponseWriter, r *http.Request) error {
	if h.mounted {
		if _, err := h.access.Authorized(r); err != nil {
			return err
		}
	}
	answer, status := h.ready(), http.StatusOK
	if answer.Status == "unavailable" {
		status = http.StatusServiceUnavailable
	}
	if !h.maySeeAll(r) {
		answer.Reasons = nil
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	return problem.WriteJSON(w, answer)
}

// ready returns the answer to GET /readyz, with all reasons.
func (h *probes) ready() health {
	reasons, degraded := h.unreadyReasons(), h.degradedReasons()
	answer := health{Status: "ok", Reasons: append(reasons, degraded...)}
	switch {
	case len(reasons) > 0:
		answer.Status = "unavailable"
	case len(degraded) > 0:
		answer.Status = "degraded"
	}
	return answer
}

// Ready returns the status and the reasons that GET /readyz tells an owner.
func (s *Server) Ready() (status string, reasons []string) {
	h := s.probes.ready()
	return h.Status, h.Reasons
}

// maySeeAll reports whether the sender of a request may see what is about the whole installation.
func (h *probes) maySeeAll(r *http.Request) bool {
	who, err := h.access.Identify(r, auth.View)
	return err == nil && who.InAll().Allows(auth.View)
}

// degradedReasons returns why messages are judged without the other nodes, and what will fail
// unless somebody acts.
func (h *probes) degradedReasons() []string {
	var reasons []string
	for _, c := range h.model.Connections() {
		if c.State.IsDegraded() {
			reasons = append(reasons, reason(c.Name, string(c.State), c.Detail))
		}
	}
	switch shared := h.model.Shared(); {
	case shared.IsAway():
		reasons = append(reasons, reason("shared store", "away since "+shared.Since.UTC().Format(time.RFC3339), shared.Problem))
	case shared.IsRefusing():
		reasons = append(reasons, reason("shared store", "refuses changes", shared.Problem))
	}
	return reasons
}

func (h *probes) unreadyReasons() []string {
	var reasons []string
	for _, c := range h.model.Connections() {
		if c.State.IsTrouble() && !c.Brief {
			reasons = append(reasons, reason(c.Name, string(c.State), c.Detail))
		}
	}
	if db := h.model.Database(); db.State == journal.DatabaseFailing {
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

// getMetrics is GET /metrics in Prometheus' text format. It is open to callers who may see the
// whole installation and, if there is no PublicURL, to this machine. If the dashboard is part of
// another site, this machine has no access, because the site's proxy may run here.
func (h *probes) getMetrics(w http.ResponseWriter, r *http.Request) error {
	if !h.mounted && h.site.IsLocal(r) {
		return h.writeMetrics(w)
	}
	return h.require(auth.View, access.Installation, func(w http.ResponseWriter, _ *http.Request, _ access.Caller) error { return h.writeMetrics(w) })(w, r)
}

func (h *probes) writeMetrics(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	h.write(w)
	return nil
}

package web

import (
	"net/http"
	"slices"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
	"github.com/chatguard/chatguard/internal/webhook"
)

// route is a route of the API for signed-in callers with the access that it needs.
type route struct {
	pattern string // method and path below /api/v1
	needs   auth.Access
	handle  access.Handler
	query   []string // allowed query parameters
}

// openRoute is a route that anyone may use.
type openRoute struct {
	pattern string
	handle  problem.Handler
}

// openRoutes returns the routes that anyone may use.
func (s *Server) openRoutes() []openRoute {
	return append(s.signInRoutes(), []openRoute{
		{"GET /healthz", getHealth},
		{"GET /readyz", s.probes.getReady},
		{"GET /metrics", s.probes.getMetrics},
		{"GET /openapi.json", getOpenAPI},
		{"GET /viewer", s.viewers.get},
		{"DELETE /viewer", s.viewers.end},
	}...)
}

// api returns the routes of the API. If another site authorizes requests, it leaves out the
// routes about access and the check routes: that site has accounts of its own and judges its own
// messages.
func (s *Server) api() []route {
	routes := slices.Concat(s.channelRoutes(), s.setupRoutes(), s.webhookRoutes(), s.policyRoutes(), s.userRoutes(), s.recordRoutes())
	if s.opts.Authorize != nil {
		return routes
	}
	return slices.Concat(routes, s.grantRoutes(), s.checkRoutes())
}

// channelRoutes returns the routes about the signed-in caller and the current state of channels.
func (s *Server) channelRoutes() []route {
	return []route{
		{"GET /session", auth.Any, s.access.GetSession, nil},
		{"DELETE /session", auth.Any, s.access.SignOut, nil},

		{"GET /status", auth.View, s.states.getStatus, []string{"channel"}},
		{"GET /nodes", auth.View, s.nodes.get, nil},
		{"GET /algorithms", auth.View, getAlgorithms, nil},
		{"GET /channels", auth.View, s.states.getChannels, nil},
		{"GET /overlay", auth.Overlay, s.overlays.getOverlay, []string{"channel"}},
		{"GET /throttled", auth.View, s.states.getThrottled, []string{"channel", "within"}},
		{"GET /channels/{channel}/messages", auth.View, s.channels.handler(s.states.getMessages), []string{"entry", "user", "n"}},
		{"GET /rates", auth.View, s.states.getRates, []string{"channel", "span"}},
		{"GET /channels/{channel}/top", auth.View, s.channels.handler(s.rankings.getTop), []string{"since"}},
		{"GET /channels/{channel}/week", auth.View, s.channels.handler(s.users.getSharedWeek), []string{"limit"}},
		{"GET /channels/{channel}/summary", auth.View, s.channels.handler(s.summarizer.getSummary), nil},
		{"GET /live", auth.View, s.states.serveLive, []string{"channel", "feed", "after"}},
		{"POST /channels/{channel}/pause", auth.Moderate, s.switches.turns((*control.Controls).Pause), nil},
		{"POST /channels/{channel}/resume", auth.Moderate, s.switches.turns((*control.Controls).Resume), nil},
		{"POST /channels/{channel}/raid", auth.Moderate, s.switches.startRaid, nil},
		{"DELETE /channels/{channel}/raid", auth.Moderate, s.switches.turns((*control.Controls).EndRaid), nil},
		{"GET /channels/{channel}/settings", auth.View, s.channels.handler(s.settings.getSettings), nil},
		{"PUT /channels/{channel}/settings", auth.Moderate, s.channels.handler(s.settings.putSettings), nil},
		{"DELETE /channels/{channel}/settings", auth.Moderate, s.channels.handler(s.settings.deleteSettings), nil},
	}
}

// setupRoutes returns the routes for setting up the bot.
func (s *Server) setupRoutes() []route {
	return []route{
		{"GET /setup", auth.Moderate, s.setups.get, []string{"channel"}},
		{"GET /login", auth.Own, s.logins.get, nil},
		{"POST /login", auth.Own, s.logins.begin, nil},
		{"DELETE /login", auth.Own, s.logins.cancel, nil},
	}
}

// webhookRoutes returns the routes about webhooks.
func (s *Server) webhookRoutes() []route {
	h := s.webhooks
	return []route{
		{"GET /webhooks", auth.Own, h.require(h.list), nil},
		{"POST /webhooks", auth.Own, h.require(h.add), nil},
		{"PUT /webhooks/{webhook}", auth.Own, h.require(h.put), nil},
		{"DELETE /webhooks/{webhook}", auth.Own, h.require(h.delete), nil},
		{"POST /webhooks/{webhook}/test", auth.Own, h.require(h.test), nil},
		{"GET /webhooks/{webhook}/deliveries", auth.Own, h.require(h.deliveries), nil},
		{"POST /webhooks/{webhook}/deliveries/{delivery}/retry", auth.Own, h.require(h.letters((*webhook.Sender).Resend)), nil},
		{"DELETE /webhooks/{webhook}/deliveries/{delivery}", auth.Own, h.require(h.letters((*webhook.Sender).Discard)), nil},
	}
}

// grantRoutes returns the routes for tokens, sign-in links and sessions.
func (s *Server) grantRoutes() []route {
	return []route{
		{"GET /access", auth.Own, s.grants.getAccess, nil},
		{"POST /tokens", auth.Own, s.grants.postToken, nil},
		{"DELETE /tokens/{name}", auth.Own, s.grants.deleteToken, nil},
		{"POST /links", auth.Own, s.grants.postLink, nil},
		{"DELETE /links/{link}", auth.Own, s.grants.deleteLink, nil},
		{"DELETE /sessions/{session}", auth.Own, s.grants.deleteSession, nil},
	}
}

// policyRoutes returns the routes for the limits of a channel, and for trying limits.
func (s *Server) policyRoutes() []route {
	return []route{
		{"GET /channels/{channel}/policy", auth.View, s.channels.handler(s.policies.getPolicy), nil},
		{"PUT /channels/{channel}/policy", auth.Moderate, s.channels.handler(s.policies.putPolicy), nil},
		{"DELETE /channels/{channel}/policy", auth.Moderate, s.channels.handler(s.policies.deletePolicy), nil},
		{"GET /channels/{channel}/policy/revisions", auth.View, s.channels.handler(s.policies.getRevisions), []string{"before", "n"}},
		{"GET /channels/{channel}/policy/differences", auth.View, s.channels.handler(s.policies.getDifferences), nil},
		{"GET /channels/{channel}/policy/export", auth.View, s.policies.exportPolicy, nil},
		{"POST /channels/{channel}/policy/revert", auth.Moderate, s.channels.handler(s.policies.revertPolicy), nil},
		{"POST /channels/{channel}/preview", auth.View, s.channels.handler(s.previews.preview), nil},
		{"GET /lab", auth.View, s.labs.get, nil},
		{"POST /lab", auth.View, s.labs.post, nil},
	}
}

// userRoutes returns the routes for single users.
func (s *Server) userRoutes() []route {
	return []route{
		{"GET /users", auth.View, s.users.findUsers, []string{"channel", "q", "noted"}},
		{"GET /channels/{channel}/overrides", auth.View, s.channels.handler(s.users.getOverrides), []string{"after", "n"}},
		{"GET /channels/{channel}/users/{id}", auth.View, s.users.getUser, nil},
		{"GET /channels/{channel}/users/{id}/week", auth.View, s.users.getWeek, []string{"limit"}},
		{"GET /channels/{channel}/users/{id}/notes", auth.View, s.users.getNotes, nil},
		{"POST /channels/{channel}/users/{id}/notes", auth.Help, s.amendments.addNote, nil},
		{"DELETE /channels/{channel}/users/{id}/notes/{note}", auth.Help, s.amendments.deleteNote, nil},
		{"POST /channels/{channel}/users/{id}/grant", auth.Help, s.amendments.grant, nil},
		{"POST /channels/{channel}/users/{id}/reset", auth.Help, s.amendments.reset, nil},
		{"POST /channels/{channel}/users/{id}/exempt", auth.Help, s.amendments.exempt, nil},
		{"POST /channels/{channel}/users/{id}/pardon", auth.Help, s.amendments.pardonUser, nil},
		{"DELETE /channels/{channel}/users/{id}/pardon/{pardon}", auth.Help, s.amendments.unpardonUser, nil},
		{"POST /channels/{channel}/users/{id}/timeout", auth.Moderate, s.amendments.timeOut, nil},
		{"DELETE /channels/{channel}/users/{id}/timeout", auth.Moderate, s.amendments.lifts((*control.Controls).LiftTimeout), nil},
		{"POST /channels/{channel}/users/{id}/ban", auth.Moderate, s.amendments.ban, nil},
		{"DELETE /channels/{channel}/users/{id}/ban", auth.Moderate, s.amendments.lifts((*control.Controls).LiftBan), nil},
		{"PUT /channels/{channel}/users/{id}/override", auth.Help, s.amendments.putOverride, nil},
		{"DELETE /channels/{channel}/users/{id}/override", auth.Help, s.amendments.deleteOverride, nil},
	}
}

// recordRoutes returns the routes for the journal and the audit.
func (s *Server) recordRoutes() []route {
	return []route{
		{"GET /journal", auth.View, s.archive.getJournal, []string{"channel", "user", "name", "entry", "limit", "action", "result", "from", "until", "before", "n", "format"}},
		{"POST /journal/{entry}/pardon", auth.Help, s.amendments.pardon, nil},
		{"GET /audit", auth.View, s.archive.getAudit, []string{"channel", "user", "name", "author", "action", "before", "n", "format"}},
	}
}

// checkRoutes returns the routes for other chats' servers.
func (s *Server) checkRoutes() []route {
	as := func(check func(w http.ResponseWriter, r *http.Request, holder string) error) access.Handler {
		return func(w http.ResponseWriter, r *http.Request, who access.Caller) error {
			return check(w, r, who.Author())
		}
	}
	return []route{
		{"POST /check", auth.Check, as(s.checker.Check), nil},
		{"POST /check/batch", auth.Check, as(s.checker.CheckBatch), nil},
		{"POST /check/refund", auth.Check, as(s.checker.Refund), nil},
	}
}

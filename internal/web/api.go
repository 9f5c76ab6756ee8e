package web

import (
	"net/http"
	"slices"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
	"github.com/chatguard/chatguard/internal/webhook"
)

// route is a route of the API for signed-in callers. The tables below set every field, so that no
// route lacks an access or a scope.
type route struct {
	pattern string       // method and path below /api/v1
	needs   auth.Access  // the access that it needs
	over    access.Scope // the channels that it is about
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
	if s.opts.Access.Authorize != nil {
		return routes
	}
	return slices.Concat(routes, s.grantRoutes(), s.checkRoutes())
}

// channelRoutes returns the routes about the signed-in caller and the current state of channels.
func (s *Server) channelRoutes() []route {
	return []route{
		{"GET /session", auth.Any, ofCaller, s.access.GetSession, nil},
		{"DELETE /session", auth.Any, ofCaller, s.access.SignOut, nil},

		{"GET /status", auth.View, ofQuery, s.states.getStatus, []string{"channel"}},
		{"GET /nodes", auth.View, access.Installation, s.nodes.get, nil},
		{"GET /algorithms", auth.View, ofCaller, getAlgorithms, nil},      // the same for everyone
		{"GET /channels", auth.View, ofCaller, s.states.getChannels, nil}, // lists the caller's
		{"GET /overlay", auth.Overlay, ofQuery, s.overlays.getOverlay, []string{"channel"}},
		{"GET /throttled", auth.View, ofQuery, s.states.getThrottled, []string{"channel", "within"}},
		{"GET /channels/{channel}/messages", auth.View, ofPath, s.channels.handler(s.states.getMessages), []string{"entry", "user", "n"}},
		{"GET /rates", auth.View, ofQuery, s.states.getRates, []string{"channel", "span"}},
		{"GET /channels/{channel}/top", auth.View, ofPath, s.channels.handler(s.rankings.getTop), []string{"since"}},
		{"GET /channels/{channel}/week", auth.View, ofPath, s.channels.handler(s.users.getSharedWeek), []string{"limit"}},
		{"GET /channels/{channel}/summary", auth.View, ofPath, s.channels.handler(s.summarizer.getSummary), nil},
		{"GET /live", auth.View, ofQuery, s.states.serveLive, []string{"channel", "feed", "after"}},
		{"POST /channels/{channel}/pause", auth.Moderate, ofPath, s.switches.pause, nil},
		{"POST /channels/{channel}/resume", auth.Moderate, ofPath, s.switches.resume, nil},
		{"POST /channels/{channel}/raid", auth.Moderate, ofPath, s.switches.startRaid, nil},
		{"DELETE /channels/{channel}/raid", auth.Moderate, ofPath, s.switches.endRaid, nil},
		{"PATCH /channels/{channel}/modes", auth.Moderate, ofPath, s.channels.handler(s.modes.patch), nil},
		{"GET /channels/{channel}/settings", auth.View, ofPath, s.channels.handler(s.settings.getSettings), nil},
		{"PUT /channels/{channel}/settings", auth.Moderate, ofPath, s.channels.handler(s.settings.putSettings), nil},
		{"DELETE /channels/{channel}/settings", auth.Moderate, ofPath, s.channels.handler(s.settings.deleteSettings), nil},
	}
}

// refuse returns the routes with handlers that only return missing. It is for routes about
// something that this server doesn't have.
func refuse(routes []route, missing error) []route {
	for i := range routes {
		routes[i].handle = func(http.ResponseWriter, *http.Request, access.Caller) error { return missing }
	}
	return routes
}

// setupRoutes returns the routes for setting up the bot.
func (s *Server) setupRoutes() []route {
	logins := []route{
		{"GET /login", auth.Own, access.Installation, s.logins.get, nil},
		{"POST /login", auth.Own, access.Installation, s.logins.begin, nil},
		{"DELETE /login", auth.Own, access.Installation, s.logins.cancel, nil},
	}
	if s.opts.Login == nil {
		logins = refuse(logins, problem.New(http.StatusNotImplemented, "This chatguard has no bot on Twitch: nobody needs to log in."))
	}
	return append(logins, route{"GET /setup", auth.Moderate, ofQuery, s.setups.get, []string{"channel"}})
}

// webhookRoutes returns the routes about webhooks.
func (s *Server) webhookRoutes() []route {
	h := s.webhooks
	routes := []route{
		{"GET /webhooks", auth.Own, access.Installation, h.list, nil},
		{"POST /webhooks", auth.Own, access.Installation, h.add, nil},
		{"PUT /webhooks/{webhook}", auth.Own, access.Installation, h.put, nil},
		{"DELETE /webhooks/{webhook}", auth.Own, access.Installation, h.delete, nil},
		{"POST /webhooks/{webhook}/test", auth.Own, access.Installation, h.test, nil},
		{"GET /webhooks/{webhook}/deliveries", auth.Own, access.Installation, h.deliveries, nil},
		{"POST /webhooks/{webhook}/deliveries/{delivery}/retry", auth.Own, access.Installation, h.letters((*webhook.Sender).Resend), nil},
		{"DELETE /webhooks/{webhook}/deliveries/{delivery}", auth.Own, access.Installation, h.letters((*webhook.Sender).Discard), nil},
	}
	if s.opts.Webhooks == nil {
		return refuse(routes, problem.New(http.StatusNotImplemented, "This chatguard sends nothing to webhooks."))
	}
	return routes
}

// grantRoutes returns the routes for tokens, sign-in links and sessions.
func (s *Server) grantRoutes() []route {
	routes := []route{
		{"GET /access", auth.Own, access.Installation, s.grants.getAccess, nil},
		{"POST /tokens", auth.Own, access.Installation, s.grants.postToken, nil},
		{"DELETE /tokens/{name}", auth.Own, access.Installation, s.grants.deleteToken, nil},
		{"POST /links", auth.Own, access.Installation, s.grants.postLink, nil},
		{"DELETE /links/{link}", auth.Own, access.Installation, s.grants.deleteLink, nil},
		{"DELETE /sessions/{session}", auth.Own, access.Installation, s.grants.deleteSession, nil},
	}
	if s.opts.Grants == nil {
		return refuse(routes, problem.New(http.StatusNotImplemented, "There are no tokens and sessions here."))
	}
	return routes
}

// policyRoutes returns the routes for the limits of a channel, and for trying limits.
func (s *Server) policyRoutes() []route {
	return []route{
		{"GET /channels/{channel}/policy", auth.View, ofPath, s.channels.handler(s.policies.getPolicy), nil},
		{"PUT /channels/{channel}/policy", auth.Moderate, ofPath, s.channels.handler(s.policies.putPolicy), nil},
		{"DELETE /channels/{channel}/policy", auth.Moderate, ofPath, s.channels.handler(s.policies.deletePolicy), nil},
		{"GET /channels/{channel}/policy/revisions", auth.View, ofPath, s.channels.handler(s.policies.getRevisions), []string{"before", "n"}},
		{"GET /channels/{channel}/policy/differences", auth.View, ofPath, s.channels.handler(s.policies.getDifferences), nil},
		{"GET /channels/{channel}/policy/export", auth.View, ofPath, s.policies.exportPolicy, nil},
		{"POST /channels/{channel}/policy/revert", auth.Moderate, ofPath, s.channels.handler(s.policies.revertPolicy), nil},
		{"POST /channels/{channel}/preview", auth.View, ofPath, s.channels.handler(s.previews.preview), nil},
		{"GET /lab", auth.View, ofCaller, s.labs.get, nil},   // lists the caller's channels
		{"POST /lab", auth.View, ofCaller, s.labs.post, nil}, // checks the channel whose recordings are asked for
	}
}

// userRoutes returns the routes for single users.
func (s *Server) userRoutes() []route {
	return []route{
		{"GET /users", auth.View, ofQuery, s.users.findUsers, []string{"channel", "q", "noted"}},
		{"GET /channels/{channel}/overrides", auth.View, ofPath, s.channels.handler(s.users.getOverrides), []string{"after", "n"}},
		{"GET /channels/{channel}/users/{id}", auth.View, ofPath, s.users.getUser, nil},
		{"GET /channels/{channel}/users/{id}/week", auth.View, ofPath, s.users.getWeek, []string{"limit"}},
		{"GET /channels/{channel}/users/{id}/notes", auth.View, ofPath, s.users.getNotes, nil},
		{"POST /channels/{channel}/users/{id}/notes", auth.Help, ofPath, s.amendments.addNote, nil},
		{"DELETE /channels/{channel}/users/{id}/notes/{note}", auth.Help, ofPath, s.amendments.deleteNote, nil},
		{"POST /channels/{channel}/users/{id}/grant", auth.Help, ofPath, s.amendments.grant, nil},
		{"POST /channels/{channel}/users/{id}/reset", auth.Help, ofPath, s.amendments.reset, nil},
		{"POST /channels/{channel}/users/{id}/exempt", auth.Help, ofPath, s.amendments.exempt, nil},
		{"POST /channels/{channel}/users/{id}/pardon", auth.Help, ofPath, s.amendments.pardonUser, nil},
		{"DELETE /channels/{channel}/users/{id}/pardon/{pardon}", auth.Help, ofPath, s.amendments.unpardonUser, nil},
		{"POST /channels/{channel}/users/{id}/timeout", auth.Moderate, ofPath, s.amendments.timeOut, nil},
		{"DELETE /channels/{channel}/users/{id}/timeout", auth.Moderate, ofPath, s.amendments.endTimeout, []string{"given"}},
		{"POST /channels/{channel}/users/{id}/ban", auth.Moderate, ofPath, s.amendments.ban, nil},
		{"DELETE /channels/{channel}/users/{id}/ban", auth.Moderate, ofPath, s.amendments.endBan, []string{"given"}},
		{"PUT /channels/{channel}/users/{id}/override", auth.Help, ofPath, s.amendments.putOverride, nil},
		{"DELETE /channels/{channel}/users/{id}/override", auth.Help, ofPath, s.amendments.deleteOverride, nil},
	}
}

// recordRoutes returns the routes for the journal and the audit.
func (s *Server) recordRoutes() []route {
	return []route{
		{"GET /journal", auth.View, ofQuery, s.archive.getJournal, []string{"channel", "user", "name", "entry", "limit", "action", "result", "from", "until", "before", "n", "format"}},
		{"POST /journal/{entry}/pardon", auth.Help, s.archive.ofEntry, s.amendments.pardon, nil},
		{"GET /audit", auth.View, ofQuery, s.archive.getAudit, []string{"channel", "user", "name", "author", "action", "before", "n", "format"}},
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
		{"POST /check", auth.Check, access.Installation, as(s.checker.Check), nil},
		{"POST /check/batch", auth.Check, access.Installation, as(s.checker.CheckBatch), nil},
		{"POST /check/refund", auth.Check, access.Installation, as(s.checker.Refund), nil},
	}
}

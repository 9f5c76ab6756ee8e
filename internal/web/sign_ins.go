package web

import (
	"net/http"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// TwitchSignIn lets people sign in with their Twitch accounts. Its handlers answer the requests of
// people who are not signed in.
type TwitchSignIn interface {
	// Join sets the func that answers a request with the cookie of a new session.
	Join(start func(w http.ResponseWriter, r *http.Request, session string))
	// JoinViewers lets viewers sign in. page is the address of their page, relative to the
	// dashboard. signedIn answers the request of a viewer whom Twitch has identified. The address
	// of that request is two levels below the dashboard.
	JoinViewers(page string, signedIn func(w http.ResponseWriter, r *http.Request, v auth.Viewer) error)
	// GetWays is GET /sign-in. It tells pages which ways to sign in they can offer.
	GetWays(w http.ResponseWriter, r *http.Request) error
	// BeginCode and Finish are the two pages of a sign-in by authorization code.
	BeginCode(w http.ResponseWriter, r *http.Request) error
	Finish(w http.ResponseWriter, r *http.Request) error
	// BeginDevice and GetDevice are POST and GET /session/device.
	BeginDevice(w http.ResponseWriter, r *http.Request) error
	GetDevice(w http.ResponseWriter, r *http.Request) error
}

// joinTwitchSignIn connects the sign-in with Twitch with the sessions, and with the page for
// viewers.
func (s *Server) joinTwitchSignIn() {
	with := s.opts.TwitchSignIn
	if with == nil {
		return
	}
	with.Join(s.access.StartMember)
	if s.viewers != nil {
		with.JoinViewers(viewerPage, s.viewers.begin)
	}
}

// signInRoutes returns the routes of the API for signing in.
func (s *Server) signInRoutes() []openRoute {
	routes := []openRoute{{"POST /session", s.access.SignIn}}
	if with := s.opts.TwitchSignIn; with != nil {
		return append(routes, []openRoute{
			{"GET /sign-in", with.GetWays}, {"POST /session/device", with.BeginDevice}, {"GET /session/device", with.GetDevice},
		}...)
	}
	return append(routes, []openRoute{
		{"GET /sign-in", getNoWays}, {"POST /session/device", refuseDevice}, {"GET /session/device", refuseDevice},
	}...)
}

// signInPages returns the pages of a sign-in with Twitch, by path.
func (s *Server) signInPages() map[string]problem.Handler {
	if with := s.opts.TwitchSignIn; with != nil {
		return map[string]problem.Handler{"GET /signin/twitch": with.BeginCode, "GET /signin/twitch/callback": with.Finish}
	}
	return nil
}

// getNoWays is GET /sign-in if Twitch accounts can't sign in.
func getNoWays(w http.ResponseWriter, _ *http.Request) error {
	return problem.WriteJSON(w, struct{}{})
}

// refuseDevice answers requests about a device code if Twitch accounts can't sign in.
func refuseDevice(http.ResponseWriter, *http.Request) error {
	return problem.New(http.StatusNotFound, "Signing in with Twitch is off here.")
}

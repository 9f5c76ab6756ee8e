package web

import (
	"net/http"
	"net/url"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/language"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// The limits of requests from the page for viewers. A page asks once every 5 s, and many viewers
// may share an address.
const (
	viewerBurst   = 20              // at once, per viewer
	viewerRefill  = 2 * time.Second // until one more is allowed
	addressBurst  = 200             // at once, per address
	addressRefill = 50 * time.Millisecond
)

// viewers answers the requests of viewers about themselves. It changes nothing, and uses up nothing
// of their limits.
type viewers struct {
	site      access.Site
	sessions  *access.ViewerSessions
	addresses *access.AddressLimit
	each      *chatguard.Guard // how often a viewer may ask
	channels  *viewerChannels
	records   *viewerRecords
	guard     *chatguard.Guard
	silences  *control.Silences // nil if there are none
}

// newViewers returns viewers, or nil if there is no page for them.
func newViewers(s *Server) (*viewers, error) {
	o := &s.opts
	if !o.ViewerPage || o.Access.Authorize != nil {
		return nil, nil
	}
	addresses, err := access.NewAddressLimit("viewers", addressBurst, addressRefill, o.Live.Guard.Now)
	if err != nil {
		return nil, err
	}
	each, err := access.NewBucketGuard("viewers", viewerBurst, viewerRefill, o.Live.Guard.Now)
	return &viewers{
		site: o.Access.Site, sessions: access.NewViewerSessions(o.Access.Site, o.Live.Guard.Now), addresses: addresses, each: each,
		channels: &viewerChannels{model: s.Model, space: o.Check.Space, now: o.Live.Guard.Now}, records: newViewerRecords(o.Store, o.Live.Controls.Silences, o.Live.Guard.Now, o.Live.Log),
		guard: o.Live.Guard, silences: o.Live.Controls.Silences,
	}, err
}

// admit returns the signed-in viewer who sent a request, unless the viewer or the address has sent
// too many.
func (h *viewers) admit(w http.ResponseWriter, r *http.Request) (v auth.Viewer, err error) {
	if h == nil {
		return v, problem.New(http.StatusNotFound, "There is no page for viewers here.")
	}
	h.freeConnection(w, r)
	if wait, err := h.addresses.Take(r.Context(), h.site.Client(r)); err != nil || wait > 0 {
		return v, errTooManyViews(wait, err)
	}
	v, ok := h.sessions.Holder(r)
	if !ok {
		return v, problem.New(http.StatusUnauthorized, "Sign in with Twitch first.")
	}
	asked, err := h.each.Check(r.Context(), chatguard.Message{ChannelID: "viewers", User: chatguard.User{ID: v.ID}})
	if err != nil || !asked.Allowed {
		return v, errTooManyViews(asked.RetryAfter, err)
	}
	return v, nil
}

func errTooManyViews(wait time.Duration, err error) error {
	if err != nil {
		return err
	}
	return problem.New(http.StatusTooManyRequests, "Too many requests. Try again in a moment.").After(wait)
}

// freeConnection makes the server close the connection after the answer, unless it is a proxy's.
// Otherwise the viewers would hold all connections, and moderators could not reach the dashboard.
func (h *viewers) freeConnection(w http.ResponseWriter, r *http.Request) {
	if !h.site.IsFromProxy(r) {
		w.Header().Set("Connection", "close")
	}
}

// get is GET /viewer?channel=.
func (h *viewers) get(w http.ResponseWriter, r *http.Request) error {
	v, err := h.admit(w, r)
	if err != nil {
		return err
	}
	values := r.URL.Query()
	if err := problem.OnlyKnown(values, []string{"channel"}); err != nil {
		return err
	}
	channel, err := h.channels.find(values.Get("channel"))
	if err != nil {
		return err
	}
	standing, err := h.standing(r.Context(), channel, v, language.Chat(language.Of(r)))
	if err != nil {
		return err
	}
	return problem.WriteJSON(w, standing)
}

// end is DELETE /viewer: it signs the viewer out.
func (h *viewers) end(w http.ResponseWriter, r *http.Request) error {
	if _, err := h.admit(w, r); err != nil {
		return err
	}
	h.sessions.End(w, r)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// begin answers a viewer whom Twitch has just identified, at the address of the sign-in's last
// step.
func (h *viewers) begin(w http.ResponseWriter, r *http.Request, v auth.Viewer) error {
	h.sessions.Begin(w, r, v)
	problem.Redirect(w, "../../"+viewerPage)
	return nil
}

// viewerPage is the page for viewers, relative to the dashboard.
const viewerPage = "viewer"

// toPage is GET /viewer/{login}: it redirects to the page for that channel.
func (h *viewers) toPage(w http.ResponseWriter, r *http.Request) error {
	problem.Redirect(w, "../"+viewerPage+"?channel="+url.QueryEscape(r.PathValue("login")))
	return nil
}

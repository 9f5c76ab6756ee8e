// Package twitchsignin lets people sign in with their Twitch accounts, by authorization code or by
// device code.
//
// Broadcasters and moderators of the served channels get a session of the dashboard. Every hour,
// Twitch is asked again where they moderate. After a change that chatguard notices, it is also
// asked before they use a right. Sessions and tokens are in memory only.
//
// Ordinary viewers only say who they are. Their token is revoked as soon as Twitch has answered. To
// offer that on a page, call JoinViewers, and link the page to "signin/twitch?for=viewer", relative
// to the dashboard (or to Ways.Address with "?for=viewer", which saves a redirect). Twitch sends
// the browser back to the callback, which calls the func given to JoinViewers with the auth.Viewer.
// The func sets a cookie of its own and redirects to the page, relative to the callback:
// "../../PAGE". Ways.Viewers says whether all of that works here.
//
// The package must not know what the dashboard shows.
package twitchsignin

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/chat/twitch/person"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// Options configure SignIns. Dashboard may be false; the other fields without a default are
// required.
type Options struct {
	Site access.Site
	// Address is the dashboard's address as browsers open it, with a trailing slash. The address
	// Callback below it must be registered with the Twitch application.
	Address string
	// Twitch returns the client for sign-ins with the owner's application. ok is false if the
	// application isn't known yet.
	Twitch func() (tw *person.Twitch, ok bool)
	// Dashboard lets broadcasters and moderators sign in to the dashboard.
	Dashboard bool
	// Channels returns the logins of the served channels by their IDs on Twitch.
	Channels func() map[string]string
	// Moderators returns what the moderators of a channel may do there.
	Moderators func(channelID string) auth.Access
	// Owners may do everything in the whole installation.
	Owners  Owners
	Metrics *metrics.Set
	Now     func() time.Time // nil means time.Now
	Log     *slog.Logger
}

// now returns the wall clock's time, which goes on while the machine sleeps.
func (o *Options) now() time.Time { return o.Now().Round(0) }

// Owners are the accounts that have all rights over the installation. They are named by login, and
// identified by ID. Owners must be safe for concurrent use.
type Owners interface {
	// See records the login that an account has now, according to Twitch.
	See(ctx context.Context, account person.Account)
	// Has reports whether the account with an ID is an owner. It must be fast.
	Has(id string) bool
	// Names returns the logins that are named as owners. The caller must not change them.
	Names() []string
}

// SignIns signs people in. Create one with New. It is safe for concurrent use. Call Join and
// JoinViewers before requests arrive, and Run once.
type SignIns struct {
	*Members
	opts         *Options
	startSession func(w http.ResponseWriter, r *http.Request, session string)
	viewers      viewers
	flows        flows
	begins       *access.AddressLimit // how often an address may begin a sign-in
	returns      *access.AddressLimit // how often an address may come back from Twitch
	asking       chan struct{}        // has a value for each request of a browser that waits for Twitch
	devices      devices
}

const (
	// beginBurst and beginRefill limit how often an address may begin a sign-in, and how often it
	// may come back.
	beginBurst  = 20
	beginRefill = 5 * time.Second
	// mostAsking is the maximum number of sign-ins that wait for Twitch at the same time.
	mostAsking = 32
	// patience is how long a sign-in waits for Twitch in all.
	patience = 12 * time.Second
)

// New returns SignIns without sessions.
func New(opts Options) (*SignIns, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	begins, err := access.NewAddressLimit("sign-ins", beginBurst, beginRefill, opts.Now)
	if err != nil {
		return nil, err
	}
	returns, err := access.NewAddressLimit("returns", beginBurst, beginRefill, opts.Now)
	if err != nil {
		return nil, err
	}
	return &SignIns{
		Members: newMembers(&opts), opts: &opts, flows: flows{&opts, access.NewCookieKey()}, begins: begins, returns: returns, asking: make(chan struct{}, mostAsking),
		devices: devices{flows: map[string]*deviceFlow{}},
	}, nil
}

// Join sets the func that answers a request with the cookie of a new session of the dashboard.
func (s *SignIns) Join(start func(w http.ResponseWriter, r *http.Request, session string)) {
	s.startSession = start
}

// signIn answers a request with the cookie of a new session.
func (s *SignIns) signIn(w http.ResponseWriter, r *http.Request, session string) {
	s.count(signedIn)
	s.startSession(w, r, session)
}

// viewers is how ordinary viewers sign in. If signedIn is nil, they can't.
type viewers struct {
	page     string // relative to the dashboard
	signedIn func(w http.ResponseWriter, r *http.Request, v auth.Viewer) error
}

// JoinViewers lets viewers sign in. page is the address of their page, relative to the dashboard.
// signedIn answers the request of a viewer who has said who they are.
func (s *SignIns) JoinViewers(page string, signedIn func(w http.ResponseWriter, r *http.Request, v auth.Viewer) error) {
	s.viewers = viewers{page, signedIn}
}

// Way is a way to sign in.
type Way string

// The ways.
const (
	// ByCode sends the browser to Twitch and back. It needs the application's secret.
	ByCode Way = "code"
	// ByDevice shows a code to enter on Twitch. It works only where nobody else can reach the
	// dashboard, because a stranger could trick a moderator into entering the stranger's code.
	ByDevice Way = "device"
)

// Obstacle is why nobody can sign in with Twitch, in one line, and what to do about it.
type Obstacle struct{ Problem, Fix string }

// WayOf returns how people sign in at a site with an application, or the obstacle.
func WayOf(site access.Site, clientID, secret string) (Way, *Obstacle) {
	public := site.PublicURL
	switch {
	case clientID == "":
		return "", &Obstacle{"twitch.client_id is empty", "run `chatguard login`, which asks for it"}
	case public == nil && site.IsPrivate() && secret == "":
		return ByDevice, nil
	case secret == "":
		return "", &Obstacle{"there is no client secret", "set CHATGUARD_TWITCH_CLIENT_SECRET to that of your Twitch application"}
	case public == nil && site.IsPrivate(), public != nil && (public.Scheme == "https" || public.Hostname() == "localhost"):
		return ByCode, nil
	}
	return "", &Obstacle{"Twitch sends people back only to an https address", "set web.public_url to the https address that people open in the browser"}
}

// way returns how people can sign in now.
func (s *SignIns) way() (tw *person.Twitch, way Way) {
	tw, ok := s.opts.Twitch()
	if !ok {
		return nil, ""
	}
	way, _ = WayOf(s.opts.Site, tw.ClientID, tw.Secret)
	return tw, way
}

// Ways are the ways to sign in with Twitch that a page can offer.
type Ways struct {
	// Twitch is the way to the dashboard; empty if there is none.
	Twitch Way `json:"twitch,omitempty"`
	// Address begins a sign-in by code.
	Address string `json:"address,omitempty"`
	// Viewers says whether viewers can sign in, by code, at the Address with "?for=viewer".
	Viewers bool `json:"viewers,omitempty"`
}

// GetWays is GET /sign-in.
func (s *SignIns) GetWays(w http.ResponseWriter, _ *http.Request) error {
	return problem.WriteJSON(w, s.Ways())
}

// Ways returns the ways that work now.
func (s *SignIns) Ways() (w Ways) {
	_, way := s.way()
	if s.opts.Dashboard {
		w.Twitch = way
	}
	w.Viewers = way == ByCode && s.viewers.signedIn != nil
	if w.Viewers || w.Twitch == ByCode {
		w.Address = s.opts.Address + Begin
	}
	return w
}

// The paths of a sign-in by code, relative to the dashboard.
const (
	Begin    = "signin/twitch"
	Callback = Begin + "/callback"
)

// results of sign-ins, for the metrics.
type result string

const (
	signedIn     result = "ok"
	denied       result = "denied"
	refused      result = "refused"       // forged, late, used twice, or of another browser
	notModerator result = "not_moderator" // neither broadcaster nor moderator
	failed       result = "failed"        // Twitch doesn't answer, or not as it should
	limited      result = "limited"
)

// count counts the end of a sign-in.
func (s *SignIns) count(r result) {
	s.opts.Metrics.GetOrCreateCounter(fmt.Sprintf("chatguard_twitch_sign_ins_total{result=%q}", r)).Inc()
}

package twitchsignin

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"time"

	"github.com/chatguard/chatguard/internal/chat/twitch/person"
	"github.com/chatguard/chatguard/internal/chat/twitch/token"
	"github.com/chatguard/chatguard/internal/web/access"
)

// purpose is what somebody signs in for.
type purpose string

const (
	toDashboard purpose = "dashboard"
	asViewer    purpose = "viewer"
)

// flow is a sign-in by code in progress. The browser keeps it in a sealed cookie, so that strangers
// who begin sign-ins take up no memory. Only the browser with the cookie can finish it.
type flow struct {
	State   string    `json:"state"`
	Nonce   string    `json:"nonce"`
	For     purpose   `json:"for"`
	Expires time.Time `json:"expires"`
}

const (
	flowCookie = "chatguard_signin"
	// flowTime is how long a person has to sign in on Twitch.
	flowTime = 10 * time.Minute
)

// flows are the sign-ins by code in progress, which are in the browsers' cookies.
type flows struct {
	opts *Options
	key  access.CookieKey
}

// begin returns a flow that begins now.
func (fs flows) begin(what purpose) flow {
	return flow{State: rand.Text(), Nonce: rand.Text(), For: what, Expires: fs.opts.now().Add(flowTime)}
}

// authorization returns the request for authorization that the browser sends to Twitch.
func (f flow) authorization(address string) token.Authorization {
	a := token.Authorization{Redirect: address + Callback, State: f.State, Nonce: f.Nonce}
	if f.For == toDashboard {
		a.Scopes = person.ModeratorScopes
	}
	return a
}

// of returns the flow of the browser that sends the request. ok is false if there is none, or if it
// has another state.
func (fs flows) of(r *http.Request, state string) (f flow, ok bool) {
	cookie, err := r.Cookie(fs.opts.Site.CookieName(r, flowCookie))
	if err != nil {
		return flow{}, false
	}
	ok = fs.key.Open(cookie.Value, &f) && subtle.ConstantTimeCompare([]byte(f.State), []byte(state)) == 1
	return f, ok
}

// set answers a request with the flow's cookie; an empty value deletes it. The cookie is Lax,
// because Twitch's page leads to the request that needs it.
func (fs flows) set(w http.ResponseWriter, r *http.Request, value string) {
	maxAge := int(flowTime.Seconds())
	if value == "" {
		maxAge = -1
	}
	http.SetCookie(w, fs.opts.Site.Cookie(r, flowCookie, value, maxAge, http.SameSiteLaxMode))
}

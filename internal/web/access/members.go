package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/chatguard/chatguard/internal/auth"
)

// Members are people whose sessions another source keeps, such as those who signed in with Twitch.
// It must be safe for concurrent use.
type Members interface {
	// Holder returns the holder of a session that NewMemberSession made. ok is false if it has
	// ended. An error means that it can't be looked up now. Holder is called for each request, and
	// every second while a live feed is open, so it must be fast.
	Holder(ctx context.Context, session string) (who auth.Identity, ok bool, err error)
	// Confirm is Holder for a request that uses a right beyond View. It may wait for a few seconds,
	// to make sure that the holder still has the right. The error is a problem.Problem if that
	// isn't known.
	Confirm(ctx context.Context, session string) (who auth.Identity, ok bool, err error)
	// End ends a session. It does nothing if the session has already ended.
	End(session string)
	// List returns the sessions that have not ended.
	List() []auth.Session
	// EndByID ends the session with an ID, and returns whether there was one.
	EndByID(id string) bool
}

// memberPrefix marks the sessions of Members. No other session begins with it.
const memberPrefix = "member-"

// NewMemberSession returns the secret of a new session of Members.
func NewMemberSession() string { return memberPrefix + rand.Text() }

// SessionID returns the ID of a session, which isn't secret. It is the beginning of the hash under
// which a Store keeps the session.
func SessionID(session string) string {
	hash := sha256.Sum256([]byte(session))
	return hex.EncodeToString(hash[:auth.IDBytes])
}

// StartMember answers a request with the cookie of a session of Members. The browser keeps it for
// as long as the cookie of any other session. Because the cookie is SameSite=Strict, the browser
// sends it with requests of our pages, but not with a redirect that began at another site. If the
// browser already had a session of Members, that session ends.
func (a *Authenticator) StartMember(w http.ResponseWriter, r *http.Request, session string) {
	if before, err := r.Cookie(a.opts.Site.CookieName(r, sessionCookie)); err == nil && a.isMember(before.Value) {
		a.opts.Members.End(before.Value)
	}
	http.SetCookie(w, a.cookie(r, session, int(sessionLife.Seconds())))
}

// isMember reports whether a session is one of Members.
func (a *Authenticator) isMember(session string) bool {
	return a.opts.Members != nil && strings.HasPrefix(session, memberPrefix)
}

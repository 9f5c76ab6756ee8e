package access

import (
	"net/http"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/hostile"
)

const (
	// ViewerTime is how long a viewer stays signed in.
	ViewerTime = 12 * time.Hour
	// viewerCookie is the name of a viewer's cookie, which CookieName completes.
	viewerCookie = "chatguard_viewer"
	// maxViewerName is the maximum length of each of a viewer's names, in bytes, so that a browser
	// accepts the cookie.
	maxViewerName = 200
)

// ViewerSessions are the sessions of viewers, who have no access to the dashboard. A session is a
// cookie that this process signs, so the sessions need no memory, end with the process, and are
// unknown to other nodes. ViewerSessions are safe for concurrent use. Create them with
// NewViewerSessions.
type ViewerSessions struct {
	site Site
	now  func() time.Time
	key  CookieKey
}

// viewerSession is the content of a viewer's cookie.
type viewerSession struct {
	ID          string `json:"id"`
	Login       string `json:"login"`
	DisplayName string `json:"name"`
	Ends        int64  `json:"ends"` // Unix time in seconds
}

// NewViewerSessions returns ViewerSessions with a new key.
func NewViewerSessions(site Site, now func() time.Time) *ViewerSessions {
	return &ViewerSessions{site, now, NewCookieKey()}
}

// Begin signs a viewer in: it adds the cookie to the answer.
func (s *ViewerSessions) Begin(w http.ResponseWriter, r *http.Request, v auth.Viewer) {
	http.SetCookie(w, s.site.Cookie(r, viewerCookie, s.seal(v), int(ViewerTime.Seconds()), http.SameSiteStrictMode))
}

// End signs the viewer out: it deletes the cookie.
func (s *ViewerSessions) End(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, s.site.Cookie(r, viewerCookie, "", -1, http.SameSiteStrictMode))
}

// Holder returns the viewer who has sent the request. ok is false if nobody is signed in.
func (s *ViewerSessions) Holder(r *http.Request) (v auth.Viewer, ok bool) {
	cookie, err := r.Cookie(s.site.CookieName(r, viewerCookie))
	if err != nil {
		return v, false
	}
	return s.open(cookie.Value)
}

// seal returns the value of a viewer's cookie.
func (s *ViewerSessions) seal(v auth.Viewer) string {
	return s.key.Seal(viewerSession{
		v.ID, hostile.ClipName(v.Login, maxViewerName), hostile.ClipName(v.DisplayName, maxViewerName), s.now().Add(ViewerTime).Unix(),
	})
}

// open returns the viewer of a cookie's value. ok is false if this process has not signed it, or if
// it has expired.
func (s *ViewerSessions) open(value string) (v auth.Viewer, ok bool) {
	var of viewerSession
	if !s.key.Open(value, &of) || s.now().Unix() >= of.Ends {
		return v, false
	}
	return auth.Viewer{ID: of.ID, Login: of.Login, DisplayName: of.DisplayName}, true
}

package access

import (
	"net/http"
	"net/url"
	"strings"
)

// StripMount returns a handler that removes the mount path from a request's path, if it is there.
// So a proxy may remove the mount path or leave it. The mount path without its trailing slash
// redirects to the one with it. serves reports whether next serves paths that begin with a name,
// such as "api". If it serves the first name of the mount path, StripMount removes nothing, and the
// proxy must remove the mount path.
func (s Site) StripMount(next http.Handler, serves func(name string) bool) http.Handler {
	mount := s.mount()
	first, _, _ := strings.Cut(mount[1:], "/")
	if first == "" {
		return next
	}
	ambiguous := serves(first)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.EscapedPath()
		if rest, ok := strings.CutPrefix(path, mount); ok && !ambiguous && (rest == "" || rest[0] == '/') {
			path = rest
		}
		if path == "" {
			http.Redirect(w, r, mount+"/"+query(r), http.StatusTemporaryRedirect)
			return
		}
		// A proxy that removes /guard and adds a slash sends //page for /guard/page.
		next.ServeHTTP(w, withPath(r, "/"+strings.TrimLeft(path, "/")))
	})
}

// query returns the query of a request with its question mark, or nothing.
func query(r *http.Request) string {
	if r.URL.RawQuery == "" {
		return ""
	}
	return "?" + r.URL.RawQuery
}

// withPath returns a request with another path, which is escaped.
func withPath(r *http.Request, escaped string) *http.Request {
	path, err := url.PathUnescape(escaped)
	if err != nil || escaped == r.URL.EscapedPath() {
		return r // EscapedPath returns no invalid escapes
	}
	changed := *r
	changed.URL = new(*r.URL)
	changed.URL.Path, changed.URL.RawPath = path, escaped
	return &changed
}

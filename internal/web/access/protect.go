package access

import (
	"errors"
	"net/http"
	"strings"

	"github.com/chatguard/chatguard/internal/web/problem"
)

// ContentPolicy lets the page load only what this server serves.
const ContentPolicy = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

// Protect refuses requests that a browser sends from another site's page, and adds headers that
// restrict what our pages may do.
func (a *Authenticator) Protect(next http.Handler) (http.Handler, error) {
	check, err := a.newCheck()
	if err != nil {
		return nil, err
	}
	return problem.HandlerFunc(a.opts.Log, func(w http.ResponseWriter, r *http.Request) error {
		a.noteProxy(r)
		a.setHeaders(w.Header(), r)
		if err := check(r); err != nil {
			return err
		}
		next.ServeHTTP(w, r)
		return nil
	}), nil
}

// setHeaders sets the headers that restrict what our pages may do and how other sites may use our
// answers.
func (a *Authenticator) setHeaders(header http.Header, r *http.Request) {
	header.Set("Content-Security-Policy", ContentPolicy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cache-Control", "no-store") // handlers of static files override it
	if a.opts.Authorize == nil && a.opts.Site.isTLSOnly(r) {
		// half a year, without subdomains
		header.Set("Strict-Transport-Security", "max-age=15552000")
	}
}

// errDowngraded is the reason for refusing a request from an unencrypted page.
var errDowngraded = errors.New("the page was loaded without encryption")

// isDowngraded reports whether a page that was loaded without encryption sends a request to this
// encrypted site. Anybody on the network path can change such a page. For browsers that don't send
// Sec-Fetch-Site, CrossOriginProtection compares only the hosts.
func (s Site) isDowngraded(r *http.Request) bool {
	scheme, _, _ := strings.Cut(r.Header.Get("Origin"), ":")
	return strings.EqualFold(scheme, "http") && r.Header.Get("Sec-Fetch-Site") == "" && s.isSecure(r)
}

// newCheck returns a function that refuses requests that a browser sends for another site's page.
func (a *Authenticator) newCheck() (func(*http.Request) error, error) {
	crossOrigin := http.NewCrossOriginProtection()
	site := a.opts.Site
	if public := site.PublicURL; public != nil {
		if err := crossOrigin.AddTrustedOrigin(public.Scheme + "://" + public.Host); err != nil {
			return nil, err
		}
	}
	return func(r *http.Request) error {
		if !strings.HasPrefix(r.URL.Path, "/") { // a redirect would lead out of the mount path
			return problem.New(http.StatusNotFound, "The path has no leading slash here: when mounting, strip the mount path without its trailing slash.")
		}
		if a.opts.Authorize == nil && !site.isKnownHost(r) {
			return problem.New(http.StatusMisdirectedRequest, "The host %s is not allowed. Set [web] public_url to the dashboard's address.", problem.Quote(r.Host))
		}
		err := crossOrigin.Check(r)
		if err == nil && site.isDowngraded(r) {
			err = errDowngraded
		}
		if err != nil {
			return problem.New(http.StatusForbidden, "Requests from another site's page can't change anything here.").Because(err)
		}
		return nil
	}, nil
}

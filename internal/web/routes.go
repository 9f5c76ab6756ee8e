package web

import (
	"net/http"
	"slices"
	"strings"

	"github.com/chatguard/chatguard/internal/journal"
)

// contentPolicy lets the page load what this server serves, and nothing else.
const contentPolicy = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

// routes joins every path with what answers it, behind the checks that hold for all of them.
func (s *Server) routes() (http.Handler, error) {
	files, err := newFiles()
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/", s.answered(files.serve))
	for path, h := range map[string]handler{"/healthz": s.getHealth, "/readyz": s.getReady, "/metrics": s.getMetrics} {
		mux.HandleFunc("GET "+path, s.answered(h)) // where probes look
	}
	for _, r := range s.openRoutes() {
		mux.HandleFunc(below(r.pattern), s.answered(r.handle))
	}
	for _, r := range s.api() {
		mux.HandleFunc(below(r.pattern), s.answered(s.signedIn(r.needs, s.asked(r.about.query, r.handle))))
	}
	for path, methods := range s.methods() {
		mux.HandleFunc(path, s.answered(otherwise(methods)))
	}
	return s.guarded(mux)
}

// methods are the methods that each path of the API is for.
func (s *Server) methods() map[string][]string {
	all := map[string][]string{}
	add := func(pattern string) {
		method, path, _ := strings.Cut(below(pattern), " ")
		all[path] = append(all[path], method)
	}
	for _, r := range s.openRoutes() {
		add(r.pattern)
	}
	for _, r := range s.api() {
		add(r.pattern)
	}
	return all
}

// otherwise answers requests for a path of the API with none of its methods.
func otherwise(methods []string) handler {
	if slices.Contains(methods, http.MethodGet) {
		methods = append(methods, http.MethodHead)
	}
	allowed := strings.Join(slices.Sorted(slices.Values(methods)), ", ")
	return func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Allow", allowed)
		return refuse(http.StatusMethodNotAllowed, "%s can't be done here, only %s.", quoted(r.Method), allowed)
	}
}

// below is a route's pattern as the server sees it.
func below(pattern string) string {
	method, path, _ := strings.Cut(pattern, " ")
	return method + " /api/v1" + path
}

func errNothing() error { return refuse(http.StatusNotFound, "There is nothing here.") }

// signedInHandler is a handler of requests whose sender may come in.
type signedInHandler func(w http.ResponseWriter, r *http.Request, who caller) error

// signedIn lets only callers through who may do what needs that access.
func (s *Server) signedIn(needs journal.Access, h signedInHandler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		who, err := s.access.identify(r, needs)
		if err != nil {
			return err
		}
		if !who.access.Allows(needs) {
			return refuse(http.StatusForbidden, "%s may only %s here, and this needs somebody who may %s.", who.name, who.access, needs)
		}
		if s.opts.Authorize != nil && !s.kept.Load() {
			return errNotKept()
		}
		return h(w, r, who)
	}
}

// errNotKept is for a dashboard that is mounted, and would show what isn't so any more.
func errNotKept() error {
	return refuse(http.StatusServiceUnavailable, "The dashboard isn't running: the server that it is part of has yet to call its Run, or is stopping.").mounted()
}

// guarded refuses requests that a browser sends for somebody else's page, and tells browsers what ours may do.
func (s *Server) guarded(next http.Handler) (http.Handler, error) {
	check, err := s.newCheck()
	if err != nil {
		return nil, err
	}
	return s.answered(func(w http.ResponseWriter, r *http.Request) error {
		s.noteProxy(r)
		s.protect(w.Header(), r)
		if err := check(r); err != nil {
			return err
		}
		next.ServeHTTP(w, r)
		return nil
	}), nil
}

// protect tells browsers what pages of ours may do, and what others may do with our answers.
func (s *Server) protect(header http.Header, r *http.Request) {
	header.Set("Content-Security-Policy", contentPolicy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cache-Control", "no-store") // static files say otherwise
	if s.opts.Authorize == nil && s.opts.Site.keepsTLS(r) {
		header.Set("Strict-Transport-Security", "max-age=15552000") // half a year; other names below the host's stay as they are
	}
}

// newCheck returns what refuses requests that a browser sends for somebody else's page.
func (s *Server) newCheck() (func(*http.Request) error, error) {
	crossOrigin := http.NewCrossOriginProtection()
	site := s.opts.Site
	if public := site.PublicURL; public != nil {
		if err := crossOrigin.AddTrustedOrigin(public.Scheme + "://" + public.Host); err != nil {
			return nil, err
		}
	}
	return func(r *http.Request) error {
		if !strings.HasPrefix(r.URL.Path, "/") { // a redirect would lead out of where it is mounted
			return refuse(http.StatusNotFound, "What is mounted here gets a path without its first slash: strip the mount's path without its last one.")
		}
		if s.opts.Authorize == nil && !site.knowsHost(r) {
			return refuse(http.StatusMisdirectedRequest, "chatguard isn't known as %s. Set [web] public_url to the address people use.", quoted(r.Host))
		}
		if err := crossOrigin.Check(r); err != nil {
			return refuse(http.StatusForbidden, "Another site's page may not change anything here.").because(err)
		}
		return nil
	}, nil
}

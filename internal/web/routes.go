package web

import (
	"net/http"
	"slices"
	"strings"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// routes connects every path to its handler, behind the checks that apply to all of them.
func (s *Server) routes() (http.Handler, error) {
	files, err := newFiles()
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/", problem.HandlerFunc(s.opts.Log, files.serve))
	for path, h := range map[string]problem.Handler{"/healthz": s.probes.getHealth, "/readyz": s.probes.getReady, "/metrics": s.probes.getMetrics} {
		// Serve these at the paths that probes expect.
		mux.HandleFunc("GET "+path, problem.HandlerFunc(s.opts.Log, h))
	}
	for _, r := range s.openRoutes() {
		mux.HandleFunc(below(r.pattern), problem.HandlerFunc(s.opts.Log, r.handle))
	}
	for _, r := range s.api() {
		mux.HandleFunc(below(r.pattern), problem.HandlerFunc(s.opts.Log, s.signedIn(r.needs, s.checkQuery(r.query, r.handle))))
	}
	for path, methods := range s.methods() {
		mux.HandleFunc(path, problem.HandlerFunc(s.opts.Log, otherwise(methods)))
	}
	return s.access.Protect(mux)
}

// methods returns the methods of each path of the API.
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

// otherwise returns a handler for methods that the path does not support; it refuses them.
func otherwise(methods []string) problem.Handler {
	if slices.Contains(methods, http.MethodGet) {
		methods = append(methods, http.MethodHead)
	}
	allowed := strings.Join(slices.Sorted(slices.Values(methods)), ", ")
	return func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Allow", allowed)
		return problem.New(http.StatusMethodNotAllowed, "%s is not allowed here; use %s.", problem.Quote(r.Method), allowed)
	}
}

// below returns a route's pattern with the path's prefix.
func below(pattern string) string {
	method, path, _ := strings.Cut(pattern, " ")
	return method + " /api/v1" + path
}

func errNothing() error { return problem.New(http.StatusNotFound, "There is nothing here.") }

// signedIn admits only callers with the access that the route needs. While a mounted dashboard is
// not kept up to date, it admits nobody.
func (s *Server) signedIn(needs auth.Access, h access.Handler) problem.Handler {
	return s.access.Require(needs, func(w http.ResponseWriter, r *http.Request, who access.Caller) error {
		if s.opts.Authorize != nil && !s.kept.Load() {
			return errNotKept()
		}
		return h(w, r, who)
	})
}

// checkQuery returns a handler that refuses requests with unknown query parameters or with a
// channel that is not served. Until the first channel is known, which may take a moment at the
// start, it accepts any channel.
func (s *Server) checkQuery(keys []string, h access.Handler) access.Handler {
	return func(w http.ResponseWriter, r *http.Request, who access.Caller) error {
		if r.URL.RawQuery == "" {
			return h(w, r, who)
		}
		values := r.URL.Query()
		if err := problem.OnlyKnown(values, keys); err != nil {
			return err
		}
		if id := values.Get("channel"); id != "" {
			if _, err := s.channels.find(id); err != nil && len(s.Channels()) > 0 {
				return err
			}
		}
		return h(w, r, who)
	}
}

// errNotKept returns the problem for a mounted dashboard that is not kept up to date. Its data
// would be outdated.
func errNotKept() error {
	return problem.New(http.StatusServiceUnavailable, "The dashboard isn't running: its server has not called Run yet, or is stopping.").ForMounted()
}

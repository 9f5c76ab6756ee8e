package web

import (
	"net/http"
	"slices"
	"strings"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// newHandler returns the handler of all paths, behind the checks that apply to all of them.
func (s *Server) newHandler() (http.Handler, error) {
	files, err := newFiles()
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	if s.viewers == nil {
		files = files.without(viewerPage, viewerFile)
	} else {
		mux.HandleFunc("GET /viewer/{login}", problem.HandlerFunc(s.opts.Live.Log, s.viewers.toPage))
	}
	mux.HandleFunc("/", problem.HandlerFunc(s.opts.Live.Log, files.serve))
	for path, h := range map[string]problem.Handler{"/healthz": getHealth, "/readyz": s.probes.getReady, "/metrics": s.probes.getMetrics} {
		// Serve these at the paths that probes expect.
		mux.HandleFunc("GET "+path, problem.HandlerFunc(s.opts.Live.Log, h))
	}
	for pattern, h := range s.signInPages() {
		mux.HandleFunc(pattern, problem.HandlerFunc(s.opts.Live.Log, h))
	}
	allowed := map[string][]string{} // methods of each path of the API
	handle := func(pattern string, h problem.Handler) {
		method, path, _ := strings.Cut(addPrefix(pattern), " ")
		allowed[path] = append(allowed[path], method)
		mux.HandleFunc(method+" "+path, problem.HandlerFunc(s.opts.Live.Log, h))
	}
	for _, r := range s.openRoutes() {
		handle(r.pattern, r.handle)
	}
	for _, r := range s.api() {
		handle(r.pattern, s.require(r.needs, r.over, s.checkQuery(r.query, r.handle)))
	}
	for path, methods := range allowed {
		mux.HandleFunc(path, problem.HandlerFunc(s.opts.Live.Log, refuseMethod(methods)))
	}
	if s.opts.Access.Authorize != nil { // the site removes the path
		return s.access.Protect(mux)
	}
	return s.access.Protect(s.opts.Access.Site.StripMount(mux, files.begins))
}

// refuseMethod returns a handler that refuses a method that the path does not support. methods are
// the supported ones.
func refuseMethod(methods []string) problem.Handler {
	if slices.Contains(methods, http.MethodGet) {
		methods = append(methods, http.MethodHead)
	}
	allowed := strings.Join(slices.Sorted(slices.Values(methods)), ", ")
	return func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Allow", allowed)
		return problem.New(http.StatusMethodNotAllowed, "%s is not allowed here; use %s.", problem.Quote(r.Method), allowed)
	}
}

// addPrefix returns a route's pattern with the path's prefix.
func addPrefix(pattern string) string {
	method, path, _ := strings.Cut(pattern, " ")
	return method + " /api/v1" + path
}

func errNotFound() error { return problem.New(http.StatusNotFound, "There is nothing here.") }

// require returns a handler that admits only callers with the access that the route needs in its
// scope. While a mounted dashboard is not kept up to date, it admits nobody.
func (s *Server) require(needs auth.Access, scope access.Scope, h access.Handler) problem.Handler {
	return s.access.Require(needs, scope, func(w http.ResponseWriter, r *http.Request, who access.Caller) error {
		if s.opts.Access.Authorize != nil && !s.kept.Load() {
			return errOutdated()
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

// errOutdated returns the problem for a mounted dashboard that is not kept up to date. Its data
// would be outdated.
func errOutdated() error {
	return problem.New(http.StatusServiceUnavailable, "The dashboard isn't running: its server has not called Run yet, or is stopping.").ForMounted()
}

package web

import (
	"net/http"
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
		mux.HandleFunc("GET /api/v1"+path, s.answered(h))
	}
	mux.HandleFunc("POST /api/v1/session", s.answered(s.signIn))
	for pattern, h := range map[string]signedInHandler{
		"DELETE /api/v1/session":                          s.signOut,
		"GET /api/v1/status":                              s.getStatus,
		"GET /api/v1/channels":                            s.getChannels,
		"GET /api/v1/throttled":                           s.getThrottled,
		"GET /api/v1/live":                                s.serveLive,
		"GET /api/v1/channels/{channel}/policy":           s.getPolicy,
		"PUT /api/v1/channels/{channel}/policy":           s.putPolicy,
		"DELETE /api/v1/channels/{channel}/policy":        s.deletePolicy,
		"GET /api/v1/channels/{channel}/policy/revisions": s.getRevisions,
		"POST /api/v1/channels/{channel}/pause":           s.turns(Switches.Pause),
		"POST /api/v1/channels/{channel}/resume":          s.turns(Switches.Resume),
		"POST /api/v1/channels/{channel}/raid":            s.startRaid,
		"DELETE /api/v1/channels/{channel}/raid":          s.turns(Switches.EndRaid),
	} {
		mux.HandleFunc(pattern, s.answered(s.signedIn(h)))
	}
	return s.guarded(mux)
}

func errNothing() error { return refuse(http.StatusNotFound, "There is nothing here.") }

// signedInHandler is a handler of requests whose sender may come in.
type signedInHandler func(w http.ResponseWriter, r *http.Request, who caller) error

// signedIn lets only callers through who may come in.
func (s *Server) signedIn(h signedInHandler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		who, err := s.access.identify(w, r)
		if err != nil {
			return err
		}
		return h(w, r, who)
	}
}

// guarded refuses requests that a browser sends for somebody else's page, and tells browsers what ours may do.
func (s *Server) guarded(next http.Handler) (http.Handler, error) {
	crossOrigin := http.NewCrossOriginProtection()
	site := s.opts.Site
	if public := site.PublicURL; public != nil {
		if err := crossOrigin.AddTrustedOrigin(public.Scheme + "://" + public.Host); err != nil {
			return nil, err
		}
	}
	check := func(r *http.Request) error {
		if !site.knowsHost(r) {
			return refuse(http.StatusMisdirectedRequest, "chatguard isn't known as %q. Set [web] public_url to the address people use.", r.Host)
		}
		if err := crossOrigin.Check(r); err != nil {
			return refuse(http.StatusForbidden, "Another site's page may not change anything here.").because(err)
		}
		return nil
	}
	return s.answered(func(w http.ResponseWriter, r *http.Request) error {
		header := w.Header()
		header.Set("Content-Security-Policy", contentPolicy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cache-Control", "no-store") // static files say otherwise
		if err := check(r); err != nil {
			return err
		}
		next.ServeHTTP(w, r)
		return nil
	}), nil
}

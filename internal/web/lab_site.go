package web

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/lab"
	"github.com/chatguard/chatguard/internal/language"
	"github.com/chatguard/chatguard/internal/simulate"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// The limits per address: of questions, and of the work for their answers in units of labUnit. The
// largest answer is 250 units.
const (
	labBurst      = 20                     // questions at once
	labRefill     = 100 * time.Millisecond // until one more is allowed
	labUnit       = lab.MaxWork / 250
	labWorkBurst  = 500
	labWorkRefill = 50 * time.Millisecond
)

// LabSite serves only the Lab, to everybody: its files, GET and POST /api/v1/lab, and GET
// /api/v1/algorithms. It needs no sign-in, and its only state is how many questions, and how much
// work, each address has left. Create one with NewLabSite.
type LabSite struct {
	handler   http.Handler
	labs      *labs
	addresses *chatguard.Guard // limits questions
	work      *chatguard.Guard // limits work
	site      access.Site
	now       func() time.Time
	log       *slog.Logger
}

// NewLabSite returns a LabSite with recorded traffic, which may be nil. Of site, Listen, PublicURL
// and TrustedProxies are used. A nil now means the wall clock, and a nil log slog.Default.
func NewLabSite(site access.Site, recorded *simulate.Recordings, now func() time.Time, log *slog.Logger) (*LabSite, error) {
	s := &LabSite{site: site, labs: newLabs(), now: now, log: cmp.Or(log, slog.Default())}
	if recorded != nil {
		s.labs.recordings, s.labs.reads = fileRecordings{recorded}, newLongReads()
	}
	if now == nil {
		s.now = time.Now
	}
	all, err := newFiles()
	if err != nil {
		return nil, err
	}
	if s.addresses, err = access.NewBucketGuard("questions", labBurst, labRefill, s.now); err != nil {
		return nil, err
	}
	if s.work, err = access.NewBucketGuard("work", labWorkBurst, labWorkRefill, s.now); err != nil {
		return nil, err
	}
	s.labs.spent = s.spend
	protection, err := access.New(access.Options{Site: site, Now: s.now, Log: s.log})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	for pattern, h := range map[string]problem.Handler{
		"/":                      labFiles(all).serve,
		"GET /healthz":           getHealth,
		"GET /api/v1/lab":        s.bound(s.labs.get),
		"POST /api/v1/lab":       s.bound(s.labs.post),
		"GET /api/v1/algorithms": func(w http.ResponseWriter, r *http.Request) error { return getAlgorithms(w, r, access.Caller{}) },
		"/api/v1/lab":            refuseMethod([]string{http.MethodGet, http.MethodPost}),
		"/api/v1/algorithms":     refuseMethod([]string{http.MethodGet}),
	} {
		mux.HandleFunc(pattern, problem.HandlerFunc(s.log, h))
	}
	s.handler, err = protection.Protect(site.StripMount(mux, all.begins))
	return s, err
}

// Handler returns the site as a handler.
func (s *LabSite) Handler() http.Handler { return s.handler }

// Run serves on the listener until ctx ends, and closes the listener. It then finishes requests in
// progress. It returns nil if it stopped because ctx ended.
func (s *LabSite) Run(ctx context.Context, listener net.Listener) error {
	return serve(ctx, listener, s.handler, s.log)
}

// bound returns a handler that refuses an address that has asked too many questions, or whose
// questions have caused too much work.
func (s *LabSite) bound(h access.Handler) problem.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		address := connguard.AddressKey(s.site.Client(r))
		for _, guard := range []*chatguard.Guard{s.addresses, s.work} {
			v, err := guard.Check(r.Context(), labMessage(address, 1))
			if err != nil {
				return err
			}
			if !v.Allowed {
				return problem.New(http.StatusTooManyRequests, "Too many questions from your address. Try again in a moment.").After(v.RetryAfter)
			}
		}
		return h(w, r, access.Caller{Identity: auth.Identity{Name: address}})
	}
}

// spend counts the work for an address. If it is more than the address has left, nothing is left.
func (s *LabSite) spend(ctx context.Context, address string, work int64) {
	if units := int(work / labUnit); units > 0 {
		s.work.CheckUpTo(ctx, labMessage(address, units)) // bound would have found an error
	}
}

func labMessage(address string, cost int) chatguard.Message {
	return chatguard.Message{ChannelID: "lab", User: chatguard.User{ID: address}, Cost: cost}
}

// anyImport matches imports of both forms.
var anyImport = regexp.MustCompile(`(?m)(?:^(?:import|export) (?:[^"(]* from )?|\bimport\()"(\.[^"]+)"`)

// named matches the files that a document names: style sheets, scripts and the icon.
var named = regexp.MustCompile(`(?:href|src)="([^"]+)"`)

// labFiles returns the files that the Lab needs. The Lab is also the start page.
func labFiles(all files) files {
	some := files{"": all[labFile], "lab": all[labFile], labFile: all[labFile], missingFile: all[missingFile]}
	names := append(modulesOf(all, labFile, anyImport), "style/contrast.css") // which a script loads
	for _, found := range named.FindAllSubmatch(all[labFile].content().plain, -1) {
		names = append(names, string(found[1]))
	}
	for _, tag := range language.All {
		names = append(names, firstTexts(all, labFile, tag)...)
	}
	for _, name := range slices.Compact(names) {
		if f, ok := all[name]; ok {
			some[name] = f
		}
	}
	return some
}

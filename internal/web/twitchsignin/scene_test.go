package twitchsignin

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/VictoriaMetrics/metrics"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/person"
	"github.com/chatguard/chatguard/internal/chat/twitch/token"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// scene has SignIns that run in simulated time, at a fake Twitch with the channels garden and tea.
// Anna moderates garden.
type scene struct {
	*testing.T
	*SignIns
	srv         *faketwitch.Server
	tw          *person.Twitch
	garden, tea string
	served      atomic.Pointer[map[string]string] // the channels, by ID; never nil
	askedBefore int
	owner       string   // login of the owner; empty if there is none
	seen        sync.Map // IDs of accounts, by login
}

// See, Has and Names implement Owners.
func (s *scene) See(_ context.Context, account person.Account) {
	s.seen.Store(account.Login, account.ID)
}
func (s *scene) Has(id string) bool {
	owner, ok := s.seen.Load(s.owner)
	return ok && owner == id
}
func (s *scene) Names() []string { return []string{s.owner} }

func testScene(t *testing.T, test func(t *testing.T, s *scene)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv, err := faketwitch.Start(faketwitch.Options{Channels: []string{"garden", "tea"}, ClientSecret: "secret", InMemory: true})
		if err != nil {
			t.Fatal(err)
		}
		client := &http.Client{Transport: &http.Transport{DialContext: srv.Dial}}
		s := &scene{T: t, srv: srv, garden: srv.UserID("garden"), tea: srv.UserID("tea"), tw: &person.Twitch{
			HelixURL: srv.HelixURL(), Application: token.Application{AuthURL: srv.AuthURL(), ClientID: srv.ClientID(), Secret: "secret", HTTP: client},
		}}
		srv.RegisterRedirect("https://chat.example.org/" + Callback)
		srv.SetModerator("garden", "anna", true)
		s.served.Store(&map[string]string{s.garden: "garden", s.tea: "tea"})
		s.SignIns, err = New(Options{
			Site: access.Site{PublicURL: &url.URL{Scheme: "https", Host: "chat.example.org"}}, Address: "https://chat.example.org/", Dashboard: true, Metrics: metrics.NewSet(), Log: slog.New(slog.DiscardHandler),
			Twitch:     func() (*person.Twitch, bool) { return s.tw, true },
			Channels:   func() map[string]string { return *s.served.Load() },
			Moderators: func(string) auth.Access { return auth.Moderate },
			Owners:     s,
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			s.SignIns.Run(ctx)
		}()
		test(t, s)
		stop()
		<-ended
		client.CloseIdleConnections()
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
}

// signIn signs an account in, and returns its session.
func (s *scene) signIn(login string) (session string) {
	s.Helper()
	a := flow{State: "s", Nonce: "n", For: toDashboard}.authorization(s.opts.Address)
	back, err := s.srv.Authorize(s.tw.Page(a), login)
	if err != nil {
		s.Fatal(err)
	}
	u, err := url.Parse(back)
	if err != nil {
		s.Fatal(err)
	}
	pair, err := s.tw.Redeem(s.Context(), u.Query().Get("code"), a)
	if err != nil {
		s.Fatal(err)
	}
	session, f := s.admit(s.Context(), s.tw.New(pair, person.ModeratorScopes))
	if f != nil {
		s.Fatal(f)
	}
	return session
}

// asked returns how many requests the fake Twitch has had since the last call.
func (s *scene) asked() (requests int) {
	all := len(s.srv.Requests())
	requests = all - s.askedBefore
	s.askedBefore = all
	return requests
}

// holds reports whether a session is valid.
func (s *scene) holds(session string) bool {
	s.Helper()
	_, ok, err := s.Holder(s.Context(), session)
	if err != nil {
		s.Fatal(err)
	}
	return ok
}

// confirm returns whether a session is valid for using a right, and whether Twitch has said so.
func (s *scene) confirm(session string) (ok, known bool) {
	s.Helper()
	_, ok, err := s.Confirm(s.Context(), session)
	if err != nil && !errors.As(err, new(*problem.Problem)) {
		s.Fatal(err)
	}
	return ok, err == nil
}

// begin begins a sign-in from an address, lets anna authorize it, and returns the request with
// which the browser comes back.
func (s *scene) begin(from string) *http.Request {
	s.Helper()
	request := func(address string) *http.Request {
		r := httptest.NewRequest("GET", address, nil)
		r.RemoteAddr = from + ":1"
		return r
	}
	w := httptest.NewRecorder()
	if err := s.BeginCode(w, request(s.opts.Address+Begin)); err != nil {
		s.Fatal(err)
	}
	back, err := s.srv.Authorize(w.Header().Get("Location"), "anna")
	if err != nil {
		s.Fatal(err)
	}
	r := request(back)
	for _, c := range w.Result().Cookies() {
		r.AddCookie(c)
	}
	return r
}

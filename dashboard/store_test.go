package dashboard_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/dashboard"
	"github.com/chatguard/chatguard/sqlitestore"
)

// wrapper is a Store of the server's own, which changes Run.
type wrapper struct {
	*sqlitestore.Store
	run func(context.Context, *sqlitestore.Store) error
}

func (w wrapper) Run(ctx context.Context) error { return w.run(ctx, w.Store) }

// stranger is a Store that isn't based on a *sqlitestore.Store.
type stranger struct{ dashboard.Store }

func TestNew_RefusesStores(t *testing.T) {
	p := start(t, newPath(t))
	const wantKind = "dashboard: Options.Store must be a *sqlitestore.Store from sqlitestore.Open, or embed one"
	for want, tests := range map[string][]struct {
		guard *chatguard.Guard
		store dashboard.Store
	}{
		wantKind: {{p.guard, stranger{p.store}}, {p.guard, new(sqlitestore.Store)}, {p.guard, wrapper{Store: new(sqlitestore.Store)}}},
		"dashboard: Options.Store is a nil *sqlitestore.Store: leave Store out for a dashboard without a store": {{p.guard, (*sqlitestore.Store)(nil)}},
		"dashboard: Options.Store was opened with another Guard: open it with this one":                         {{newGuard(t), p.store}, {newGuard(t), wrapper{Store: p.store}}},
	} {
		for _, test := range tests {
			if _, err := dashboard.New(test.guard, &dashboard.Options{Authorize: allow, Store: test.store}); err == nil || err.Error() != want {
				t.Errorf("%T: %v, want %s", test.store, err, want)
			}
		}
	}
	p.end()
	_, err := dashboard.New(p.guard, &dashboard.Options{Authorize: allow, Store: p.store})
	if err == nil || !strings.HasPrefix(err.Error(), "dashboard: can't read the throttled users from Options.Store, which must stay open") {
		t.Errorf("a closed store: %v", err)
	}
}

// TestRun_StoreEndsLast checks the order of stopping: when the Store's Run is asked to end, no page
// can make changes any more, and its last write contains everything that happened before.
func TestRun_StoreEndsLast(t *testing.T) {
	path := newPath(t)
	p := start(t, path)
	ended := false
	var s *site
	s = newSite(t, p.guard, dashboard.Options{Store: wrapper{p.store, func(ctx context.Context, store *sqlitestore.Store) error {
		running, stop := context.WithCancel(context.WithoutCancel(ctx))
		done := make(chan error, 1)
		go func() { done <- store.Run(running) }()
		<-ctx.Done()
		w, r := httptest.NewRecorder(), httptest.NewRequest("POST", api+"/pause", nil)
		r.AddCookie(&http.Cookie{Name: "who", Value: "anna"})
		if s.board.ServeHTTP(w, r); w.Code != http.StatusServiceUnavailable {
			t.Errorf("the store ends, and a change is answered with %d", w.Code)
		}
		say(t, p.guard, "late", 1)
		stop()
		ended = true
		return <-done
	}}})
	s.say("early", 1)
	s.setBurst("anna", 2)
	s.end()
	p.end()
	if !ended {
		t.Fatal("Run didn't wait for the store's")
	}
	p = start(t, path)
	if burst := p.guard.ChannelPolicy(room).Limits[0].Burst; burst != 2 {
		t.Errorf("the burst is %d", burst)
	}
	if v := say(t, p.guard, "late", 1); v.Remaining != 0 {
		t.Errorf("the last message wasn't written: %+v", v)
	}
}

// TestRun_StoreFails checks that an error of the Store's Run ends the Dashboard's.
func TestRun_StoreFails(t *testing.T) {
	p := start(t, newPath(t))
	broken := errors.New("broken")
	for name, run := range map[string]func(context.Context, *sqlitestore.Store) error{
		"at once":    func(context.Context, *sqlitestore.Store) error { return broken },
		"at the end": func(ctx context.Context, store *sqlitestore.Store) error { return errors.Join(broken, store.Run(ctx)) },
	} {
		board, err := dashboard.New(p.guard, &dashboard.Options{Authorize: allow, Logger: quiet, Store: wrapper{p.store, run}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithCancel(t.Context())
		if name == "at the end" {
			end()
		}
		if err := board.Run(ctx); !errors.Is(err, broken) || err.Error() != "dashboard: broken" {
			t.Errorf("%s: %v", name, err)
		}
		end()
	}
}

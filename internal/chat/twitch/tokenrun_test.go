package twitch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// login is a login by another process, which ends well.
func (k *keeping) login(as string) {
	k.t.Helper()
	d := &DeviceLogin{AuthURL: k.srv.AuthURL(), ClientID: k.srv.ClientID(), Now: k.clock.now, sleep: k.clock.sleep}
	code, err := d.Begin(k.t.Context())
	if err != nil {
		k.t.Fatal(err)
	}
	k.srv.ApproveAs(code.UserCode, as)
	pair, err := d.Wait(k.t.Context(), code)
	if err != nil {
		k.t.Fatal(err)
	}
	if id, err := k.process(k.File).Adopt(k.t.Context(), pair); err != nil || id.Login != as || id.UserID != k.srv.UserID(as) {
		k.t.Fatalf("%+v, %v", id, err)
	}
}

// TestRunTakesUpANewLogin without a restart, after a revocation, of another account too. Whoever waits for an account gets that one.
func TestRunTakesUpANewLogin(t *testing.T) {
	k := keep(t)
	g := newGate()
	k.sleep = g.sleep
	var mu sync.Mutex
	var states []TokenState
	k.Changed = func(s TokenStatus) {
		mu.Lock()
		defer mu.Unlock()
		states = append(states, s.State)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- k.Run(ctx) }()
	look := func() {
		t.Helper()
		g.open <- struct{}{}
		if d := <-g.asked; d != lookEvery {
			t.Errorf("waits %s", d)
		}
	}
	<-g.asked
	if id, err := k.Wait(t.Context()); err != nil || id.Login != k.srv.BotLogin() {
		t.Fatalf("%+v, %v", id, err)
	}

	k.srv.Revoke()
	if err := k.Refused(t.Context(), k.token()); !errors.Is(err, ErrToken) {
		t.Fatal(err)
	}
	waiting := make(chan Identity, 1)
	go func() {
		id, _ := k.Wait(t.Context())
		waiting <- id
	}()
	look()
	k.is(TokenRevoked, "run `chatguard login`")
	k.login("berta")
	look()
	if id := <-waiting; id.Login != "berta" || id.UserID != k.srv.UserID("berta") {
		t.Errorf("waited for %+v", id)
	}
	k.is(TokenGood, "")
	if got := k.token(); got != k.stored().Access {
		t.Errorf("%s isn't what is stored", got)
	}

	k.login("anna") // while all is well
	look()
	if s := k.Status(); s.State != TokenGood || s.Identity.Login != "anna" {
		t.Errorf("%+v", s)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("ended with %v", err)
	}
	if got := fmt.Sprint(states); !strings.HasPrefix(got, "[unknown good revoked unknown good") {
		t.Errorf("was told %s", got)
	}
}

// TestWaitEnds with its context.
func TestWaitEnds(t *testing.T) {
	k := keep(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestStartWhileTwitchIsAway: who the bot is was learnt before, and is in the file.
func TestStartWhileTwitchIsAway(t *testing.T) {
	k := keep(t)
	k.later(0)
	again := &keeping{Tokens: k.process(k.File), t: t, srv: k.srv, clock: k.clock}
	again.AuthURL = "http://127.0.0.1:1"
	again.later(0)
	again.is(TokenUnknown, "Twitch could not be reached")
	if id, err := again.Wait(t.Context()); err != nil || id.UserID != k.srv.BotID() || id.Login != k.srv.BotLogin() {
		t.Errorf("%+v, %v", id, err)
	}
	if again.token() != k.srv.Token() {
		t.Error("another token")
	}
}

// TestProcessesShareAFile: they renew one after the other, and the second finds that it was done.
func TestProcessesShareAFile(t *testing.T) {
	k := keep(t)
	k.later(0)
	var all []*Tokens
	for range 8 {
		p := k.process(k.File)
		if _, err := p.Token(t.Context()); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	k.srv.ExpireTokens()
	var processes sync.WaitGroup
	for _, p := range all {
		processes.Go(func() {
			if err := p.Refused(t.Context(), k.srv.Token()); err != nil {
				t.Error(err)
			}
		})
	}
	processes.Wait()
	for _, p := range all {
		if got, err := p.Token(t.Context()); err != nil || got != k.stored().Access {
			t.Errorf("%s, %v", got, err)
		}
	}
	if k.srv.Refreshes() != 1 || k.asked("token") != 1 {
		t.Errorf("%d renewals, %d asked for", k.srv.Refreshes(), k.asked("token"))
	}
}

// TestAdoptStoresFirst: a pair is kept even where Twitch can't say whose it is; one that Twitch refuses isn't.
func TestAdoptStoresFirst(t *testing.T) {
	k := keep(t)
	k.writeFile("spoilt", 0o644)
	p := k.process(k.File)
	if _, err := p.Adopt(t.Context(), Pair{Access: "unknown"}); !errors.Is(err, ErrToken) {
		t.Errorf("refused: %v", err)
	}
	p.AuthURL = "http://127.0.0.1:1"
	p = &Tokens{AuthURL: "http://127.0.0.1:1", File: k.File, Now: k.clock.now}
	t.Cleanup(p.Close)
	if _, err := p.Adopt(t.Context(), Pair{Access: k.srv.Token(), Refresh: k.srv.RefreshToken()}); !errors.Is(err, ErrUnavailable) {
		t.Errorf("nobody there: %v", err)
	}
	if r := k.stored(); r.Access != k.srv.Token() || r.Refresh != k.srv.RefreshToken() || k.mode() != 0o600 {
		t.Errorf("stored %+v, mode %o", r, k.mode())
	}
}

// TestTokensStaySecret: no log, no error and no status holds a token, not even where the server repeats it.
func TestTokensStaySecret(t *testing.T) {
	var status int
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"message":"bad %s %s"}`, r.Header.Get("Authorization"), r.PostForm.Get("refresh_token")+r.PostForm.Get("device_code"))
	}))
	defer echo.Close()
	var log bytes.Buffer
	clock := newNaps()
	for _, status = range []int{200, 400, 401, 403, 404, 429, 500} {
		k := &Tokens{
			AuthURL: echo.URL, ClientID: "id", Access: "hunter2access", Refresh: "hunter2refresh", Now: clock.now, sleep: clock.sleep,
			Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		}
		fmt.Fprintln(&log, k.Refused(t.Context(), "hunter2access"))
		k.tend(t.Context())
		clock.sleep(t.Context(), time.Hour)
		k.tend(t.Context())
		_, err := k.Token(t.Context())
		fmt.Fprintln(&log, err, k.Status())
		fmt.Fprintf(&log, "%v %+v\n", k.look().record, k.look().record.Pair)
		slog.New(slog.NewJSONHandler(&log, nil)).Info("pair", "pair", k.look().record.Pair)
		k.Close()
		d := &DeviceLogin{AuthURL: echo.URL, ClientID: "id", sleep: clock.sleep}
		_, _, err = d.poll(t.Context(), d.server(), DeviceCode{code: "hunter2device"})
		fmt.Fprintln(&log, err)
	}
	if strings.Contains(log.String(), "hunter2") {
		t.Error(log.String())
	}
}

// TestNoRedirectIsFollowed: it would carry the refresh token to wherever it points.
func TestNoRedirectIsFollowed(t *testing.T) {
	k := keep(t)
	elsewhere := httptest.NewServer(http.RedirectHandler(k.srv.AuthURL()+"/token", http.StatusTemporaryRedirect))
	defer elsewhere.Close()
	k.AuthURL = elsewhere.URL
	if err := k.Refused(t.Context(), k.token()); !errors.Is(err, ErrUnavailable) || len(k.srv.Requests()) != 0 {
		t.Errorf("%v; %d requests elsewhere", err, len(k.srv.Requests()))
	}
}

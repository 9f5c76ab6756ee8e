package token

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

	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
	"github.com/chatguard/chatguard/internal/clock"
)

// login simulates a successful login by another process.
func (k *tokenKeeper) login(as string) {
	k.t.Helper()
	d := &DeviceLogin{Application: Application{AuthURL: k.srv.AuthURL(), ClientID: k.srv.ClientID(), Clock: clock.Clock{NowFunc: k.clock.Now, SleepFunc: k.clock.Sleep}}}
	code, err := d.Begin(k.t.Context())
	must(k.t, err)
	k.srv.ApproveAs(code.UserCode, as)
	pair, err := d.Wait(k.t.Context(), code)
	must(k.t, err)
	if id, err := k.newProcess(k.File).Adopt(k.t.Context(), pair); err != nil || id.Login != as || id.UserID != k.srv.UserID(as) {
		k.t.Fatalf("%+v, %v", id, err)
	}
}

// TestTokens_RunLoadsNewLogin checks that after a revocation, Run loads a new login without a
// restart, even if it is for another account. A caller of Wait gets the new account.
func TestTokens_RunLoadsNewLogin(t *testing.T) {
	k := newTokenKeeper(t)
	g := twitchtest.NewGate()
	k.Clock.SleepFunc = g.Sleep
	var mu sync.Mutex
	var states []State
	k.Changed = func(s Status) {
		mu.Lock()
		defer mu.Unlock()
		states = append(states, s.State)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- k.Run(ctx) }()
	look := func() {
		t.Helper()
		g.Open <- struct{}{}
		if d := <-g.Asked; d != reloadEvery {
			t.Errorf("waits %s", d)
		}
	}
	<-g.Asked
	if id, err := k.Wait(t.Context()); err != nil || id.Login != k.srv.BotLogin() {
		t.Fatalf("%+v, %v", id, err)
	}

	k.srv.Revoke()
	if err := k.Refused(t.Context(), k.token()); !errors.Is(err, twitch.ErrToken) {
		t.Fatal(err)
	}
	waiting := make(chan Identity, 1)
	go func() {
		id, _ := k.Wait(t.Context())
		waiting <- id
	}()
	look()
	k.checkState(Revoked, "run `chatguard login`")
	k.login("berta")
	look()
	if id := <-waiting; id.Login != "berta" || id.UserID != k.srv.UserID("berta") {
		t.Errorf("waited for %+v", id)
	}
	k.checkState(Good, "")
	if got := k.token(); got != k.fileContent().Access {
		t.Errorf("%s isn't what is stored", got)
	}

	k.login("anna") // while the token is good
	look()
	if s := k.Status(); s.State != Good || s.Identity.Login != "anna" {
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

// TestTokens_WaitEnds checks that Wait ends with its context.
func TestTokens_WaitEnds(t *testing.T) {
	k := newTokenKeeper(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestTokens_StartWhileTwitchIsDown checks that the bot's identity is known from the file while
// Twitch can't be reached.
func TestTokens_StartWhileTwitchIsDown(t *testing.T) {
	k := newTokenKeeper(t)
	k.advance(0)
	again := &tokenKeeper{Store: k.newProcess(k.File), t: t, srv: k.srv, clock: k.clock}
	again.AuthURL = "http://127.0.0.1:1"
	again.advance(0)
	again.checkState(Unknown, "Twitch could not be reached")
	if id, err := again.Wait(t.Context()); err != nil || id.UserID != k.srv.BotID() || id.Login != k.srv.BotLogin() {
		t.Errorf("%+v, %v", id, err)
	}
	if again.token() != k.srv.Token() {
		t.Error("another token")
	}
}

// TestTokens_ProcessesShareFile checks that processes renew one after the other. After the first
// one, the others find the token already renewed.
func TestTokens_ProcessesShareFile(t *testing.T) {
	k := newTokenKeeper(t)
	k.advance(0)
	var all []*Store
	for range 8 {
		p := k.newProcess(k.File)
		_, err := p.Token(t.Context())
		must(t, err)
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
		if got, err := p.Token(t.Context()); err != nil || got != k.fileContent().Access {
			t.Errorf("%s, %v", got, err)
		}
	}
	if k.srv.Refreshes() != 1 || k.requestCount("token") != 1 {
		t.Errorf("%d renewals, %d asked for", k.srv.Refreshes(), k.requestCount("token"))
	}
}

// TestTokens_AdoptStoresFirst checks that a pair is stored even if Twitch can't be asked about its
// owner. If Twitch refuses the pair, it is rejected.
func TestTokens_AdoptStoresFirst(t *testing.T) {
	k := newTokenKeeper(t)
	k.writeFile("spoilt", 0o644)
	p := k.newProcess(k.File)
	if _, err := p.Adopt(t.Context(), Pair{Access: "unknown"}); !errors.Is(err, twitch.ErrToken) {
		t.Errorf("refused: %v", err)
	}
	p.AuthURL = "http://127.0.0.1:1"
	p = &Store{AuthURL: "http://127.0.0.1:1", File: k.File, Clock: clock.Clock{NowFunc: k.clock.Now}}
	t.Cleanup(p.Close)
	if _, err := p.Adopt(t.Context(), Pair{Access: k.srv.Token(), Refresh: k.srv.RefreshToken()}); !errors.Is(err, twitch.ErrUnavailable) {
		t.Errorf("nobody there: %v", err)
	}
	if r := k.fileContent(); r.Access != k.srv.Token() || r.Refresh != k.srv.RefreshToken() || k.mode() != 0o600 {
		t.Errorf("stored %+v, mode %o", r, k.mode())
	}
}

// TestTokens_StaySecret checks that no log, error or status contains a token, even if the server
// repeats it.
func TestTokens_StaySecret(t *testing.T) {
	var status int
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"message":"bad %s %s"}`, r.Header.Get("Authorization"), r.PostForm.Get("refresh_token")+r.PostForm.Get("device_code"))
	}))
	defer echo.Close()
	var log bytes.Buffer
	sleeps := twitchtest.NewSleeps()
	for _, status = range []int{200, 400, 401, 403, 404, 429, 500} {
		k := &Store{
			AuthURL: echo.URL, ClientID: "id", Access: "hunter2access", Refresh: "hunter2refresh", Clock: clock.Clock{NowFunc: sleeps.Now, SleepFunc: sleeps.Sleep},
			Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		}
		fmt.Fprintln(&log, k.Refused(t.Context(), "hunter2access"))
		k.maintain(t.Context())
		sleeps.Sleep(t.Context(), time.Hour)
		k.maintain(t.Context())
		_, err := k.Token(t.Context())
		fmt.Fprintln(&log, err, k.Status())
		fmt.Fprintf(&log, "%v %+v\n", k.current().record, k.current().record.Pair)
		slog.New(slog.NewJSONHandler(&log, nil)).Info("pair", "pair", k.current().record.Pair)
		k.Close()
		d := &DeviceLogin{Application: Application{AuthURL: echo.URL, ClientID: "id", Clock: clock.Clock{SleepFunc: sleeps.Sleep}}}
		_, _, err = d.poll(t.Context(), d.server(), DeviceCode{code: "hunter2device"})
		fmt.Fprintln(&log, err)
	}
	if strings.Contains(log.String(), "hunter2") {
		t.Error(log.String())
	}
}

// TestTokens_FollowNoRedirect checks that no redirect is followed, because it would send the
// refresh token to its target.
func TestTokens_FollowNoRedirect(t *testing.T) {
	k := newTokenKeeper(t)
	elsewhere := httptest.NewServer(http.RedirectHandler(k.srv.AuthURL()+"/token", http.StatusTemporaryRedirect))
	defer elsewhere.Close()
	k.AuthURL = elsewhere.URL
	if err := k.Refused(t.Context(), k.token()); !errors.Is(err, twitch.ErrUnavailable) || len(k.srv.Requests()) != 0 {
		t.Errorf("%v; %d requests elsewhere", err, len(k.srv.Requests()))
	}
}

package token

import (
	"context"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
	"github.com/chatguard/chatguard/internal/clock"
)

// tokenKeeper is a bot that keeps tokens of a fake Twitch. Both use the same clock.
type tokenKeeper struct {
	*Store
	t     *testing.T
	srv   *faketwitch.Server
	clock *twitchtest.Sleeps
}

// newTokenKeeper returns a bot that got the server's first pair from the environment, and has a
// file.
func newTokenKeeper(t *testing.T) *tokenKeeper {
	t.Helper()
	return newTokenKeeperFor(t, 0)
}

// newTokenKeeperFor is like newTokenKeeper, with access tokens that live for the given duration; 0
// means Twitch's duration.
func newTokenKeeperFor(t *testing.T, life time.Duration) *tokenKeeper {
	t.Helper()
	clock := twitchtest.NewSleeps()
	srv := twitchtest.StartWith(t, faketwitch.Options{Now: clock.Now, Scopes: ScopeNames(), TokenLife: life})
	k := &tokenKeeper{t: t, srv: srv, clock: clock}
	k.Store = k.newProcess(filepath.Join(t.TempDir(), "chatguard.db.token"))
	k.Access, k.Refresh = srv.Token(), srv.RefreshToken()
	return k
}

// newProcess returns another process's Store for the file.
func (k *tokenKeeper) newProcess(file string) *Store {
	tokens := &Store{AuthURL: k.srv.AuthURL(), ClientID: k.srv.ClientID(), File: file, Clock: clock.Clock{NowFunc: k.clock.Now, SleepFunc: k.clock.Sleep}}
	k.t.Cleanup(tokens.Close)
	return tokens
}

// advance advances the clock and does what is due.
func (k *tokenKeeper) advance(d time.Duration) {
	k.t.Helper()
	k.clock.Sleep(k.t.Context(), d)
	must(k.t, k.Load(k.t.Context()))
	k.maintain(k.t.Context())
}

// token returns the result of Token, which must not fail.
func (k *tokenKeeper) token() string {
	k.t.Helper()
	token, err := k.Token(k.t.Context())
	must(k.t, err)
	return token
}

// checkState checks the state, and that the status's detail contains detail. If detail is empty,
// the status must have none.
func (k *tokenKeeper) checkState(state State, detail string) {
	k.t.Helper()
	s := k.Status()
	if s.State != state || !strings.Contains(s.Detail, detail) || detail == "" && s.Detail != "" {
		k.t.Fatalf("%s (%s), want %s (%s)", s.State, s.Detail, state, detail)
	}
}

// requestCount returns the number of requests to an endpoint of the identity server.
func (k *tokenKeeper) requestCount(endpoint string) (n int) {
	for _, r := range k.srv.Requests() {
		if r.Path == "/oauth2/"+endpoint {
			n++
		}
	}
	return n
}

// fileContent returns the content of the file.
func (k *tokenKeeper) fileContent() record {
	k.t.Helper()
	_, record, err := k.file().read()
	must(k.t, err)
	return record
}

func TestTokens_ValidatedEveryHour(t *testing.T) {
	k := newTokenKeeper(t)
	for _, step := range []struct {
		after time.Duration
		asked int
	}{{0, 1}, {reloadEvery, 1}, {time.Hour - reloadEvery - 1, 1}, {1, 2}, {time.Hour, 3}} {
		if k.advance(step.after); k.requestCount("validate") != step.asked {
			t.Fatalf("after %s more: asked %d times, want %d", step.after, k.requestCount("validate"), step.asked)
		}
	}
	k.checkState(Good, "")
	s := k.Status()
	if s.Identity.Login != k.srv.BotLogin() || s.Identity.UserID != k.srv.BotID() || s.Identity.ClientID != k.srv.ClientID() ||
		!s.ExpiresAt.Equal(twitchtest.NewSleeps().Now().Add(4*time.Hour)) || !s.Since.Equal(twitchtest.NewSleeps().Now()) {
		t.Errorf("%+v", s)
	}
}

// TestTokens_RenewedBeforeExpiry checks that tokens are renewed before they expire, both by Token
// and by the periodic work of Run.
func TestTokens_RenewedBeforeExpiry(t *testing.T) {
	t.Run("asked for", func(t *testing.T) {
		k := newTokenKeeper(t)
		k.advance(0)
		k.clock.Sleep(t.Context(), 4*time.Hour-time.Minute-1)
		if k.token() != k.srv.Token() || k.srv.Refreshes() != 0 {
			t.Fatal("renewed too early")
		}
		k.clock.Sleep(t.Context(), 1)
		if k.token() == k.srv.Token() || k.srv.Refreshes() != 1 || k.token() == "" || k.srv.Refreshes() != 1 {
			t.Errorf("%d renewals", k.srv.Refreshes())
		}
	})
	t.Run("of a short life", func(t *testing.T) {
		k := newTokenKeeperFor(t, 5*time.Minute)
		k.advance(3 * time.Minute)
		if k.advance(0); k.srv.Refreshes() != 1 {
			t.Fatalf("%d renewals", k.srv.Refreshes())
		}
		for _, step := range []struct {
			after time.Duration
			want  int
		}{{4*time.Minute - 1, 1}, {1, 2}, {4*time.Minute - 1, 2}, {1, 3}} {
			if k.advance(step.after); k.srv.Refreshes() != step.want {
				t.Errorf("%d renewals, want %d", k.srv.Refreshes(), step.want)
			}
		}
	})
	t.Run("tended", func(t *testing.T) {
		k := newTokenKeeper(t)
		k.advance(0)
		if k.advance(4*time.Hour - 2*time.Minute - time.Second); k.srv.Refreshes() != 0 {
			t.Fatal("renewed too early")
		}
		if k.advance(time.Second); k.srv.Refreshes() != 1 {
			t.Fatal("renewed too late")
		}
		k = newTokenKeeper(t)
		k.advance(0)
		for day := range 40 { // longer than the 30 days after which an unused refresh token expires
			for range 6 {
				k.advance(4*time.Hour - 2*renewBefore)
			}
			if k.checkState(Good, ""); k.srv.Refreshes() != 6*(day+1) {
				t.Fatalf("%d renewals in %d days", k.srv.Refreshes(), day+1)
			}
		}
	})
}

// TestTokens_RefusedRenewsOnce checks that concurrent callers cause one renewal. The pair is stored
// before it is used, and the old refresh token isn't sent again.
func TestTokens_RefusedRenewsOnce(t *testing.T) {
	k := newTokenKeeper(t)
	k.advance(0)
	k.clock.Sleep(t.Context(), time.Hour)
	old := k.token()
	k.srv.ExpireTokens()
	told := 0
	k.Changed = func(Status) {
		told++
		if used := k.current().record.Access; used != k.fileContent().Access || used == old {
			t.Errorf("%s is used while the file holds %s", used, k.fileContent().Access)
		}
	}
	var callers sync.WaitGroup
	for range 50 {
		callers.Go(func() {
			if err := k.Refused(t.Context(), old); err != nil {
				t.Error(err)
			}
			if got, err := k.Token(t.Context()); err != nil || got == old {
				t.Errorf("still %q, %v", got, err)
			}
		})
	}
	callers.Wait()
	if k.srv.Refreshes() != 1 || k.requestCount("token") != 1 || k.fileContent().Access != k.token() || k.fileContent().Refresh == k.srv.RefreshToken() || told != 1 {
		t.Errorf("%d renewals of %d asked for, told %d times", k.srv.Refreshes(), k.requestCount("token"), told)
	}
	if err := k.Refused(t.Context(), old); err != nil || k.requestCount("token") != 1 {
		t.Errorf("a token that isn't used any more: %v", err)
	}
}

// blockedTransport is a connection to Twitch that blocks POST requests until the test closes open.
type blockedTransport struct {
	http.RoundTripper
	arrived chan struct{}
	open    chan struct{}
}

func (h *blockedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost {
		h.arrived <- struct{}{}
		<-h.open
	}
	return h.RoundTripper.RoundTrip(r)
}

// TestTokens_CallersLeave checks that a caller returns when its context ends. The renewal
// continues, because the new pair would otherwise be lost, and Close waits for the renewal.
func TestTokens_CallersLeave(t *testing.T) {
	k := newTokenKeeper(t)
	way := &blockedTransport{&http.Transport{DisableKeepAlives: true}, make(chan struct{}), make(chan struct{})}
	k.HTTP = &http.Client{Transport: way}
	old := k.token()
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() { left <- k.Refused(ctx, old) }()
	<-way.arrived
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("left with %v", err)
	}
	closed := make(chan struct{})
	go func() { k.Close(); close(closed) }()
	twitchtest.Eventually(t, "closing", func() bool { k.mu.Lock(); defer k.mu.Unlock(); return k.Store.closed })
	select {
	case <-closed:
		t.Error("closed while a renewal was under way")
	default:
	}
	close(way.open)
	<-closed
	if k.token() == old || k.srv.Refreshes() != 1 {
		t.Error("the renewal was lost")
	}
	k.srv.ExpireTokens()
	k.clock.Sleep(t.Context(), freshFor)
	if err := k.Refused(t.Context(), k.token()); !errors.Is(err, twitch.ErrUnavailable) || k.srv.Refreshes() != 1 {
		t.Errorf("renewed after the end: %v", err)
	}
}

// TestTokens_TroubleIsNoRevocation checks that while the identity server fails in any way, the
// existing token is used until it expires. When the server works again, the token is renewed.
func TestTokens_TroubleIsNoRevocation(t *testing.T) {
	for name, fault := range map[string]faketwitch.Fault{
		"500": {Status: 500}, "503": {Status: 503}, "429": {Status: 429}, "404": {Status: 404}, "no answer": {}, "redirected": {Status: 302},
		"cut off": {Status: faketwitch.AsAsked, Cut: true}, "no JSON": {Status: 200, Message: "no tokens in here"},
	} {
		k := newTokenKeeper(t)
		k.advance(0)
		k.srv.FailAuth(&fault)
		k.advance(time.Hour)
		k.checkState(Good, "Twitch could not be reached or failed")
		k.clock.Sleep(t.Context(), 3*time.Hour-time.Second)
		if got := k.token(); got != k.srv.Token() {
			t.Errorf("%s: %s, a second before it expires", name, got)
		}
		if fault.Cut { // the server has issued a pair, but its refresh token is lost
			continue
		}
		k.advance(authMax)
		k.checkState(Unknown, "Twitch could not be reached or failed")
		if _, err := k.Token(t.Context()); !errors.Is(err, twitch.ErrUnavailable) || errors.Is(err, twitch.ErrToken) {
			t.Errorf("%s: expired: %v", name, err)
		}
		k.srv.FailAuth(nil)
		k.advance(authMax)
		k.checkState(Good, "")
		if k.srv.Refreshes() != 1 {
			t.Errorf("%s: %d renewals", name, k.srv.Refreshes())
		}
	}
}

// TestTokens_TriesGetRarer checks that while the identity server is down, the delays between tries
// grow, no matter which caller needs the token.
func TestTokens_TriesGetRarer(t *testing.T) {
	k := newTokenKeeper(t)
	k.advance(0)
	k.srv.ExpireTokens()
	k.srv.FailAuth(&faketwitch.Fault{Status: 500})
	before := len(k.srv.Requests())
	for range 600 / 2 {
		if err := k.Refused(t.Context(), k.srv.Token()); !errors.Is(err, twitch.ErrUnavailable) {
			t.Fatal(err)
		}
		k.advance(reloadEvery)
	}
	if n := len(k.srv.Requests()) - before; n < 10 || n > 30 {
		t.Errorf("%d requests in 10 minutes", n)
	}
}

// TestTokens_ClientSecret checks that the token of an application with a secret is renewed with it,
// and that a wrong or missing secret is named.
func TestTokens_ClientSecret(t *testing.T) {
	for secret, want := range map[string]error{"right0secret": nil, "wrong0secret": ErrSecret, "": ErrSecret} {
		k := newTokenKeeper(t)
		srv := twitchtest.StartWith(t, faketwitch.Options{Now: k.clock.Now, ClientSecret: "right0secret"})
		k.AuthURL, k.ClientSecret = srv.AuthURL(), secret
		k.advance(0)
		if err := k.Refused(t.Context(), k.token()); !errors.Is(err, want) || (srv.Refreshes() == 1) != (want == nil) {
			t.Errorf("%q: %v, %d renewals", secret, err, srv.Refreshes())
		}
	}
}

// TestTokens_Revoked checks that if Twitch accepts neither the access token nor the refresh token,
// the Store reports this and doesn't ask Twitch again.
func TestTokens_Revoked(t *testing.T) {
	for name, refuse := range map[string]func(*tokenKeeper){
		"disconnected":   func(k *tokenKeeper) { k.srv.Revoke() },
		"refused by 401": func(k *tokenKeeper) { k.srv.FailAuth(&faketwitch.Fault{Status: 401, Message: "no"}) },
		"refused by 403": func(k *tokenKeeper) { k.srv.FailAuth(&faketwitch.Fault{Status: 403, Message: "invalid client secret"}) },
	} {
		k := newTokenKeeper(t)
		k.advance(0)
		refuse(k)
		if err := k.Refused(t.Context(), k.token()); !errors.Is(err, twitch.ErrToken) || errors.Is(err, twitch.ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
		k.checkState(Revoked, "run `chatguard login`")
		n := len(k.srv.Requests())
		k.advance(24 * time.Hour)
		if _, err := k.Token(t.Context()); !errors.Is(err, twitch.ErrToken) || len(k.srv.Requests()) != n {
			t.Errorf("%s: %v, %d requests after the end", name, err, len(k.srv.Requests())-n)
		}
	}
}

// TestTokens_RevocationNoticed checks that a revocation is noticed within an hour even if the
// token isn't used.
func TestTokens_RevocationNoticed(t *testing.T) {
	k := newTokenKeeper(t)
	k.advance(0)
	k.srv.Revoke()
	k.advance(time.Hour)
	k.checkState(Revoked, "run `chatguard login`")
}

// TestTokens_NewTokenRefused checks that a refused token isn't renewed again and again if it is
// new, because that would not help.
func TestTokens_NewTokenRefused(t *testing.T) {
	k := newTokenKeeper(t)
	k.advance(0)
	for range 20 {
		k.clock.Sleep(t.Context(), 2*time.Second)
		_ = k.Refused(t.Context(), k.token())
	}
	if err := k.Refused(t.Context(), k.token()); k.srv.Refreshes() != 1 || !errors.Is(err, twitch.ErrToken) || !strings.Contains(err.Error(), "twitch.client_id") {
		t.Errorf("%d renewals, %v", k.srv.Refreshes(), err)
	}
	k.srv.Revoke()
	k.advance(0)
	k.checkState(Revoked, "run `chatguard login`") // the refusals didn't prevent its validation
}

// TestTokens_EveryNewTokenRefused simulates a Twitch that issues tokens and then calls them
// invalid. It checks that they are renewed only a few times, and that this is reported. Once Twitch
// accepts the tokens, the state is good.
func TestTokens_EveryNewTokenRefused(t *testing.T) {
	k := newTokenKeeper(t)
	var taken atomic.Bool
	k.HTTP = &http.Client{Transport: refusingTransport{&http.Transport{DisableKeepAlives: true}, &taken}}
	for range 300 {
		k.advance(reloadEvery)
	}
	if n := k.srv.Refreshes(); n < 2 || n > 4 {
		t.Errorf("%d renewals in ten minutes", n)
	}
	if n := k.requestCount("validate"); n != 0 {
		t.Fatalf("%d were validated", n)
	}
	k.checkState(Unknown, "it is new")
	before := k.srv.Refreshes()
	for range 24 * 60 {
		k.advance(time.Minute)
	}
	if n := k.srv.Refreshes() - before; n > 40 {
		t.Errorf("%d renewals in a day", n)
	}
	taken.Store(true)
	k.advance(authMax)
	k.checkState(Good, "")
	k.srv.ExpireTokens()
	k.advance(3 * time.Hour)
	k.checkState(Good, "")
}

// refusingTransport is a connection to an identity server that calls every token invalid until
// taken is set.
type refusingTransport struct {
	http.RoundTripper
	taken *atomic.Bool
}

func (r refusingTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if r.taken.Load() || req.Method == http.MethodPost {
		return r.RoundTripper.RoundTrip(req)
	}
	body := io.NopCloser(strings.NewReader(`{"status":401,"message":"invalid access token"}`))
	return &http.Response{StatusCode: http.StatusUnauthorized, Body: body, Request: req}, nil
}

// TestTokens_Renewable checks that the status shows whether the token can be renewed, even before
// Twitch was asked.
func TestTokens_Renewable(t *testing.T) {
	for name, c := range map[string]struct {
		refresh, clientID string
		want              bool
	}{"yes": {"r", "c", true}, "no refresh token": {"", "c", false}, "nobody knows of which application": {"r", "", false}} {
		k := &Store{Access: "a", Refresh: c.refresh, ClientID: c.clientID}
		if err := k.Load(t.Context()); err != nil || k.Status().Renewable != c.want {
			t.Errorf("%s: %v, %+v", name, err, k.Status())
		}
	}
}

// TestTokens_WithoutRefreshToken checks that a token without a refresh token works until it
// expires.
func TestTokens_WithoutRefreshToken(t *testing.T) {
	k := newTokenKeeper(t)
	k.Refresh = ""
	k.advance(0)
	if err := k.Refused(t.Context(), k.token()); err != nil || k.requestCount("validate") != 2 {
		t.Errorf("a token that is good: %v, asked %d times", err, k.requestCount("validate"))
	}
	k.advance(4*time.Hour - 1)
	k.checkState(Good, "")
	if k.token() != k.srv.Token() {
		t.Error("another token")
	}
	k.advance(time.Second)
	k.checkState(Revoked, "run `chatguard login`")
	if _, err := k.Token(t.Context()); !errors.Is(err, twitch.ErrToken) || k.requestCount("token") != 0 {
		t.Errorf("expired: %v", err)
	}
}

// TestTokens_RefreshTokenAlone checks that a refresh token alone is enough if the application is
// known.
func TestTokens_RefreshTokenAlone(t *testing.T) {
	k := newTokenKeeper(t)
	k.Access = ""
	k.advance(0)
	k.checkState(Good, "")
	if k.Status().Identity.Login != k.srv.BotLogin() || k.token() == k.srv.Token() {
		t.Errorf("%+v", k.Status())
	}
}

// TestTokens_LooksUpApplication checks that an unknown application is looked up, because renewing
// needs it.
func TestTokens_LooksUpApplication(t *testing.T) {
	k := newTokenKeeper(t)
	k.ClientID = ""
	k.advance(0)
	if k.fileContent().ClientID != k.srv.ClientID() {
		t.Errorf("stored %q", k.fileContent().ClientID)
	}
	k.advance(4 * time.Hour)
	k.checkState(Good, "")
	if k.srv.Refreshes() != 1 {
		t.Errorf("%d renewals", k.srv.Refreshes())
	}
}

func TestTokens_WithoutToken(t *testing.T) {
	k := newTokenKeeper(t)
	k.Access, k.Refresh = "", ""
	if k.Status().State != Unknown {
		t.Error("known before anybody looked")
	}
	k.advance(0)
	k.checkState(Missing, "run `chatguard login`")
	if _, err := k.Token(t.Context()); err == nil || len(k.srv.Requests()) != 0 {
		t.Errorf("%v, %d requests", err, len(k.srv.Requests()))
	}
}

func TestTokens_MissingScopes(t *testing.T) {
	k := newTokenKeeper(t)
	k.Transport = "irc"
	k.advance(0)
	k.update(func(known *knowledge) { known.record.Scopes = []string{"chat:read", "user:write:chat"} })
	k.checkState(Good, "moderator:manage:chat_messages")
	if s := k.Status(); len(s.Missing) != 5 || !strings.Contains(s.Detail, "run `chatguard login`") {
		t.Errorf("%q: %s", s.Missing, s.Detail)
	}
}

// TestTokens_TroubleAsksOnce checks that concurrent callers cause only one request while the
// identity server fails.
func TestTokens_TroubleAsksOnce(t *testing.T) {
	k := newTokenKeeper(t)
	way := &blockedTransport{&http.Transport{DisableKeepAlives: true}, make(chan struct{}, 50), make(chan struct{})}
	k.HTTP = &http.Client{Transport: way}
	old := k.token()
	k.srv.FailAuth(&faketwitch.Fault{Status: 500})
	var callers sync.WaitGroup
	for range 50 {
		callers.Go(func() {
			if err := k.Refused(t.Context(), old); !errors.Is(err, twitch.ErrUnavailable) {
				t.Error(err)
			}
		})
	}
	<-way.arrived
	close(way.open)
	callers.Wait()
	if k.requestCount("token") != 1 {
		t.Errorf("asked %d times", k.requestCount("token"))
	}
}

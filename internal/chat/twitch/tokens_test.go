package twitch

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
)

// keeping is a bot that keeps tokens of a fake Twitch, whose clock both go by.
type keeping struct {
	*Tokens
	t     *testing.T
	srv   *faketwitch.Server
	clock *naps
}

// keep returns a bot that got the server's first pair from the environment, and has a file.
func keep(t *testing.T) *keeping {
	t.Helper()
	return keepFor(t, 0)
}

// keepFor does the same where access tokens live for that long; 0 is as long as Twitch's.
func keepFor(t *testing.T, life time.Duration) *keeping {
	t.Helper()
	clock := newNaps()
	srv, err := faketwitch.Start(faketwitch.Options{Now: clock.now, Scopes: ScopeNames(), TokenLife: life})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	k := &keeping{t: t, srv: srv, clock: clock}
	k.Tokens = k.process(filepath.Join(t.TempDir(), "chatguard.db.token"))
	k.Access, k.Refresh = srv.Token(), srv.RefreshToken()
	return k
}

// process is another process's view of a token file.
func (k *keeping) process(file string) *Tokens {
	tokens := &Tokens{AuthURL: k.srv.AuthURL(), ClientID: k.srv.ClientID(), File: file, Now: k.clock.now, sleep: k.clock.sleep}
	k.t.Cleanup(tokens.Close)
	return tokens
}

// later lets time go by, and does what is due then.
func (k *keeping) later(d time.Duration) {
	k.t.Helper()
	k.clock.sleep(k.t.Context(), d)
	if err := k.Load(k.t.Context()); err != nil {
		k.t.Fatal(err)
	}
	k.tend(k.t.Context())
}

// token is what Token gives, which has to give one.
func (k *keeping) token() string {
	k.t.Helper()
	token, err := k.Token(k.t.Context())
	if err != nil {
		k.t.Fatal(err)
	}
	return token
}

// is wants a state, and words in its detail; no words want no detail.
func (k *keeping) is(state TokenState, detail string) {
	k.t.Helper()
	s := k.Status()
	if s.State != state || !strings.Contains(s.Detail, detail) || detail == "" && s.Detail != "" {
		k.t.Fatalf("%s (%s), want %s (%s)", s.State, s.Detail, state, detail)
	}
}

// asked counts the requests to an endpoint of the identity server.
func (k *keeping) asked(endpoint string) (n int) {
	for _, r := range k.srv.Requests() {
		if r.Path == "/oauth2/"+endpoint {
			n++
		}
	}
	return n
}

// stored is what the file holds.
func (k *keeping) stored() tokenRecord {
	k.t.Helper()
	_, record, err := k.file().read()
	if err != nil {
		k.t.Fatal(err)
	}
	return record
}

func TestTokenIsValidatedAtTheStartAndEveryHour(t *testing.T) {
	k := keep(t)
	for _, step := range []struct {
		after time.Duration
		asked int
	}{{0, 1}, {lookEvery, 1}, {time.Hour - lookEvery - 1, 1}, {1, 2}, {time.Hour, 3}} {
		if k.later(step.after); k.asked("validate") != step.asked {
			t.Fatalf("after %s more: asked %d times, want %d", step.after, k.asked("validate"), step.asked)
		}
	}
	k.is(TokenGood, "")
	s := k.Status()
	if s.Identity.Login != k.srv.BotLogin() || s.Identity.UserID != k.srv.BotID() || s.Identity.ClientID != k.srv.ClientID() ||
		!s.ExpiresAt.Equal(newNaps().now().Add(4*time.Hour)) || !s.Since.Equal(newNaps().now()) {
		t.Errorf("%+v", s)
	}
}

// TestTokenIsRenewedBeforeItExpires, with Run or without.
func TestTokenIsRenewedBeforeItExpires(t *testing.T) {
	t.Run("asked for", func(t *testing.T) {
		k := keep(t)
		k.later(0)
		k.clock.sleep(t.Context(), 4*time.Hour-time.Minute-1)
		if k.token() != k.srv.Token() || k.srv.Refreshes() != 0 {
			t.Fatal("renewed too early")
		}
		k.clock.sleep(t.Context(), 1)
		if k.token() == k.srv.Token() || k.srv.Refreshes() != 1 || k.token() == "" || k.srv.Refreshes() != 1 {
			t.Errorf("%d renewals", k.srv.Refreshes())
		}
	})
	t.Run("of a short life", func(t *testing.T) {
		k := keepFor(t, 5*time.Minute)
		k.later(3 * time.Minute)
		if k.later(0); k.srv.Refreshes() != 1 {
			t.Fatalf("%d renewals", k.srv.Refreshes())
		}
		for _, step := range []struct {
			after time.Duration
			want  int
		}{{4*time.Minute - 1, 1}, {1, 2}, {4*time.Minute - 1, 2}, {1, 3}} {
			if k.later(step.after); k.srv.Refreshes() != step.want {
				t.Errorf("%d renewals, want %d", k.srv.Refreshes(), step.want)
			}
		}
	})
	t.Run("tended", func(t *testing.T) {
		k := keep(t)
		k.later(0)
		if k.later(4*time.Hour - 2*time.Minute - time.Second); k.srv.Refreshes() != 0 {
			t.Fatal("renewed too early")
		}
		if k.later(time.Second); k.srv.Refreshes() != 1 {
			t.Fatal("renewed too late")
		}
		k = keep(t)
		k.later(0)
		for day := range 40 { // more than the 30 days that an unused refresh token lives
			for range 6 {
				k.later(4*time.Hour - 2*renewBefore)
			}
			if k.is(TokenGood, ""); k.srv.Refreshes() != 6*(day+1) {
				t.Fatalf("%d renewals in %d days", k.srv.Refreshes(), day+1)
			}
		}
	})
}

// TestRefusedRenewsOnceForAll who call at once. The pair is stored before anybody uses it, and the old refresh token isn't sent again.
func TestRefusedRenewsOnceForAll(t *testing.T) {
	k := keep(t)
	k.later(0)
	k.clock.sleep(t.Context(), time.Hour)
	old := k.token()
	k.srv.ExpireTokens()
	told := 0
	k.Changed = func(TokenStatus) {
		told++
		if used := k.look().record.Access; used != k.stored().Access || used == old {
			t.Errorf("%s is used while the file holds %s", used, k.stored().Access)
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
	if k.srv.Refreshes() != 1 || k.asked("token") != 1 || k.stored().Access != k.token() || k.stored().Refresh == k.srv.RefreshToken() || told != 1 {
		t.Errorf("%d renewals of %d asked for, told %d times", k.srv.Refreshes(), k.asked("token"), told)
	}
	if err := k.Refused(t.Context(), old); err != nil || k.asked("token") != 1 {
		t.Errorf("a token that isn't used any more: %v", err)
	}
}

// held is a way to Twitch that is barred until it is opened.
type held struct {
	http.RoundTripper
	arrived chan struct{}
	open    chan struct{}
}

func (h *held) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost {
		h.arrived <- struct{}{}
		<-h.open
	}
	return h.RoundTripper.RoundTrip(r)
}

// TestCallersLeave when their context ends. The renewal goes on without them, as its pair would be lost otherwise, and Close waits for it.
func TestCallersLeave(t *testing.T) {
	k := keep(t)
	way := &held{&http.Transport{DisableKeepAlives: true}, make(chan struct{}), make(chan struct{})}
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
	eventually(t, "closing", func() bool { k.mu.Lock(); defer k.mu.Unlock(); return k.Tokens.closed })
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
	k.clock.sleep(t.Context(), fresh)
	if err := k.Refused(t.Context(), k.token()); !errors.Is(err, ErrUnavailable) || k.srv.Refreshes() != 1 {
		t.Errorf("renewed after the end: %v", err)
	}
}

// TestTroubleIsNoRevocation: whatever the identity server fails with, the token that there is goes on until it expires, and everything is well again
// with the server.
func TestTroubleIsNoRevocation(t *testing.T) {
	for name, fault := range map[string]faketwitch.Fault{
		"500": {Status: 500}, "503": {Status: 503}, "429": {Status: 429}, "404": {Status: 404}, "no answer": {}, "redirected": {Status: 302},
		"cut off": {Status: faketwitch.AsAsked, Cut: true}, "no JSON": {Status: 200, Message: "no tokens in here"},
	} {
		k := keep(t)
		k.later(0)
		k.srv.FailAuth(&fault)
		k.later(time.Hour)
		k.is(TokenGood, "Twitch could not be reached or failed")
		k.clock.sleep(t.Context(), 3*time.Hour-time.Second)
		if got := k.token(); got != k.srv.Token() {
			t.Errorf("%s: %s, a second before it expires", name, got)
		}
		if fault.Cut { // those requests were granted: the next refresh token is lost for good
			continue
		}
		k.later(authMax)
		k.is(TokenUnknown, "Twitch could not be reached or failed")
		if _, err := k.Token(t.Context()); !errors.Is(err, ErrUnavailable) || errors.Is(err, ErrToken) {
			t.Errorf("%s: expired: %v", name, err)
		}
		k.srv.FailAuth(nil)
		k.later(authMax)
		k.is(TokenGood, "")
		if k.srv.Refreshes() != 1 {
			t.Errorf("%s: %d renewals", name, k.srv.Refreshes())
		}
	}
}

// TestTriesGetRarer while the identity server is down, whoever asks.
func TestTriesGetRarer(t *testing.T) {
	k := keep(t)
	k.later(0)
	k.srv.ExpireTokens()
	k.srv.FailAuth(&faketwitch.Fault{Status: 500})
	before := len(k.srv.Requests())
	for range 600 / 2 {
		if err := k.Refused(t.Context(), k.srv.Token()); !errors.Is(err, ErrUnavailable) {
			t.Fatal(err)
		}
		k.later(lookEvery)
	}
	if n := len(k.srv.Requests()) - before; n < 10 || n > 30 {
		t.Errorf("%d requests in 10 minutes", n)
	}
}

// TestRevoked: when Twitch takes neither token, that is told, and Twitch is left in peace.
func TestRevoked(t *testing.T) {
	for name, refuse := range map[string]func(*keeping){
		"disconnected":   func(k *keeping) { k.srv.Revoke() },
		"refused by 401": func(k *keeping) { k.srv.FailAuth(&faketwitch.Fault{Status: 401, Message: "no"}) },
		"refused by 403": func(k *keeping) { k.srv.FailAuth(&faketwitch.Fault{Status: 403, Message: "invalid client secret"}) },
	} {
		k := keep(t)
		k.later(0)
		refuse(k)
		if err := k.Refused(t.Context(), k.token()); !errors.Is(err, ErrToken) || errors.Is(err, ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
		k.is(TokenRevoked, "run `chatguard login`")
		n := len(k.srv.Requests())
		k.later(24 * time.Hour)
		if _, err := k.Token(t.Context()); !errors.Is(err, ErrToken) || len(k.srv.Requests()) != n {
			t.Errorf("%s: %v, %d requests after the end", name, err, len(k.srv.Requests())-n)
		}
	}
}

// TestRevocationShowsWithinTheHour, also where nobody uses the token.
func TestRevocationShowsWithinTheHour(t *testing.T) {
	k := keep(t)
	k.later(0)
	k.srv.Revoke()
	k.later(time.Hour)
	k.is(TokenRevoked, "run `chatguard login`")
}

// TestNewTokenThatIsRefused isn't renewed again and again: that would end no sooner.
func TestNewTokenThatIsRefused(t *testing.T) {
	k := keep(t)
	k.later(0)
	for range 20 {
		k.clock.sleep(t.Context(), 2*time.Second)
		_ = k.Refused(t.Context(), k.token())
	}
	if err := k.Refused(t.Context(), k.token()); k.srv.Refreshes() != 1 || !errors.Is(err, ErrToken) || !strings.Contains(err.Error(), "twitch.client_id") {
		t.Errorf("%d renewals, %v", k.srv.Refreshes(), err)
	}
	k.srv.Revoke()
	k.later(0)
	k.is(TokenRevoked, "run `chatguard login`") // it was looked at all the same
}

// TestEveryNewTokenIsRefused: while Twitch gives tokens that it then calls invalid, they are renewed a few times only, and that is said; once it takes
// them, all is well.
func TestEveryNewTokenIsRefused(t *testing.T) {
	k := keep(t)
	var taken atomic.Bool
	k.HTTP = &http.Client{Transport: refusing{&http.Transport{DisableKeepAlives: true}, &taken}}
	for range 300 {
		k.later(lookEvery)
	}
	if n := k.srv.Refreshes(); n < 2 || n > 4 {
		t.Errorf("%d renewals in ten minutes", n)
	}
	if n := k.asked("validate"); n != 0 {
		t.Fatalf("%d were validated", n)
	}
	k.is(TokenUnknown, "it is new")
	before := k.srv.Refreshes()
	for range 24 * 60 {
		k.later(time.Minute)
	}
	if n := k.srv.Refreshes() - before; n > 40 {
		t.Errorf("%d renewals in a day", n)
	}
	taken.Store(true)
	k.later(authMax)
	k.is(TokenGood, "")
	k.srv.ExpireTokens()
	k.later(3 * time.Hour)
	k.is(TokenGood, "")
}

// refusing is a way to an identity server that calls every token invalid until they are taken.
type refusing struct {
	http.RoundTripper
	taken *atomic.Bool
}

func (r refusing) RoundTrip(req *http.Request) (*http.Response, error) {
	if r.taken.Load() || req.Method == http.MethodPost {
		return r.RoundTripper.RoundTrip(req)
	}
	body := io.NopCloser(strings.NewReader(`{"status":401,"message":"invalid access token"}`))
	return &http.Response{StatusCode: http.StatusUnauthorized, Body: body, Request: req}, nil
}

// TestRenewable: whether the token can be renewed shows, before Twitch was asked too.
func TestRenewable(t *testing.T) {
	for name, c := range map[string]struct {
		refresh, clientID string
		want              bool
	}{"yes": {"r", "c", true}, "no refresh token": {"", "c", false}, "nobody knows of which application": {"r", "", false}} {
		k := &Tokens{Access: "a", Refresh: c.refresh, ClientID: c.clientID}
		if err := k.Load(t.Context()); err != nil || k.Status().Renewable != c.want {
			t.Errorf("%s: %v, %+v", name, err, k.Status())
		}
	}
}

// TestWithoutRefreshToken a token works until it expires.
func TestWithoutRefreshToken(t *testing.T) {
	k := keep(t)
	k.Refresh = ""
	k.later(0)
	if err := k.Refused(t.Context(), k.token()); err != nil || k.asked("validate") != 2 {
		t.Errorf("a token that is good: %v, asked %d times", err, k.asked("validate"))
	}
	k.later(4*time.Hour - 1)
	k.is(TokenGood, "")
	if k.token() != k.srv.Token() {
		t.Error("another token")
	}
	k.later(time.Second)
	k.is(TokenRevoked, "run `chatguard login`")
	if _, err := k.Token(t.Context()); !errors.Is(err, ErrToken) || k.asked("token") != 0 {
		t.Errorf("expired: %v", err)
	}
}

// TestRefreshTokenAlone is enough, where the application is known.
func TestRefreshTokenAlone(t *testing.T) {
	k := keep(t)
	k.Access = ""
	k.later(0)
	k.is(TokenGood, "")
	if k.Status().Identity.Login != k.srv.BotLogin() || k.token() == k.srv.Token() {
		t.Errorf("%+v", k.Status())
	}
}

// TestApplicationIsLearnt where nobody says which one the tokens were made for; renewing needs it.
func TestApplicationIsLearnt(t *testing.T) {
	k := keep(t)
	k.ClientID = ""
	k.later(0)
	if k.stored().ClientID != k.srv.ClientID() {
		t.Errorf("stored %q", k.stored().ClientID)
	}
	k.later(4 * time.Hour)
	k.is(TokenGood, "")
	if k.srv.Refreshes() != 1 {
		t.Errorf("%d renewals", k.srv.Refreshes())
	}
}

func TestWithoutToken(t *testing.T) {
	k := keep(t)
	k.Access, k.Refresh = "", ""
	if k.Status().State != TokenUnknown {
		t.Error("known before anybody looked")
	}
	k.later(0)
	k.is(TokenMissing, "run `chatguard login`")
	if _, err := k.Token(t.Context()); err == nil || len(k.srv.Requests()) != 0 {
		t.Errorf("%v, %d requests", err, len(k.srv.Requests()))
	}
}

func TestMissingScopesAreNamed(t *testing.T) {
	k := keep(t)
	k.Transport = "irc"
	k.later(0)
	k.alter(func(known *knownTokens) { known.record.Scopes = []string{"chat:read", "user:write:chat"} })
	k.is(TokenGood, "moderator:manage:chat_messages")
	if s := k.Status(); len(s.Missing) != 5 || !strings.Contains(s.Detail, "run `chatguard login`") {
		t.Errorf("%q: %s", s.Missing, s.Detail)
	}
}

// TestTroubleIsAskedForOnce by all who call at once.
func TestTroubleIsAskedForOnce(t *testing.T) {
	k := keep(t)
	way := &held{&http.Transport{DisableKeepAlives: true}, make(chan struct{}, 50), make(chan struct{})}
	k.HTTP = &http.Client{Transport: way}
	old := k.token()
	k.srv.FailAuth(&faketwitch.Fault{Status: 500})
	var callers sync.WaitGroup
	for range 50 {
		callers.Go(func() {
			if err := k.Refused(t.Context(), old); !errors.Is(err, ErrUnavailable) {
				t.Error(err)
			}
		})
	}
	<-way.arrived
	close(way.open)
	callers.Wait()
	if k.asked("token") != 1 {
		t.Errorf("asked %d times", k.asked("token"))
	}
}

//go:build !race

package web

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/api"
	"github.com/chatguard/chatguard/internal/chat/twitch/person"
	twitchtoken "github.com/chatguard/chatguard/internal/chat/twitch/token"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
	"github.com/chatguard/chatguard/internal/clock"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/live"
	"github.com/chatguard/chatguard/internal/web/twitchsignin"
)

// clientSecret is the secret of the application at the fake Twitch.
const clientSecret = "fake0client0secret"

// twitchScene is a dashboard to which people sign in at a fake Twitch. Its channels there are garden
// and tea. Anna moderates garden.
type twitchScene struct {
	*dashboard
	twitch     *faketwitch.Server
	signIns    *twitchsignin.SignIns
	garden     string // the ID
	tea        string
	moderators auth.Access // what moderators may do
	viewers    []auth.Viewer
	metrics    *metrics.Set
	log        bytes.Buffer // of the sign-ins
}

// newTwitch starts a fake Twitch. secret is that of the application; empty means that it has none.
func newTwitch(t testing.TB, secret string) *faketwitch.Server {
	t.Helper()
	server, err := faketwitch.Start(faketwitch.Options{Channels: []string{"garden", "tea"}, ClientSecret: secret})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	server.SetModerator("garden", "anna", true)
	return server
}

// dashWithTwitch runs a dashboard behind https://chat.example.org, to which people sign in by code.
func dashWithTwitch(t testing.TB, adjust ...func(*Options)) *twitchScene {
	t.Helper()
	public := func(o *Options) { o.Access.Site.PublicURL = parseURL("https://chat.example.org") }
	return dashWithTwitchAt(t, clientSecret, append([]func(*Options){public}, adjust...)...)
}

func dashWithTwitchAt(t testing.TB, secret string, adjust ...func(*Options)) *twitchScene {
	t.Helper()
	s := &twitchScene{twitch: newTwitch(t, secret), moderators: auth.Moderate, metrics: metrics.NewSet()}
	s.garden, s.tea = s.twitch.UserID("garden"), s.twitch.UserID("tea")
	join := func(o *Options) {
		others := o.Live.Channels
		o.Live.Channels = func() []live.Channel {
			return append([]live.Channel{{ID: s.garden, Login: "garden"}, {ID: s.tea, Login: "tea"}}, others()...)
		}
		s.signIns = s.newSignIns(t, o.Access.Site, secret)
		o.Access.Members, o.TwitchSignIn = s.signIns, s.signIns
	}
	s.dashboard = dash(t, append(adjust, join)...)
	s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.signIns.Run(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
		for _, hidden := range []string{"fake0access", "fake0refresh", "fake0authorization0code", "fake0device", clientSecret} {
			if strings.Contains(s.log.String(), hidden) {
				t.Errorf("the log contains %s:\n%s", hidden, s.log.String())
			}
		}
	})
	return s
}

// newSignIns returns the sign-ins of a dashboard at the scene's Twitch.
func (s *twitchScene) newSignIns(t testing.TB, site access.Site, secret string) *twitchsignin.SignIns {
	t.Helper()
	client := api.NewClient()
	t.Cleanup(client.CloseIdleConnections)
	tw := &person.Twitch{HelixURL: s.twitch.HelixURL(), Application: twitchtoken.Application{
		AuthURL: s.twitch.AuthURL(), ClientID: s.twitch.ClientID(), Secret: secret, HTTP: client, Clock: clock.Clock{NowFunc: s.now},
	}}
	address := "http://localhost:8080/"
	if site.PublicURL != nil {
		address = site.Address("")
	}
	s.twitch.RegisterRedirect(address + twitchsignin.Callback)
	made, err := twitchsignin.New(twitchsignin.Options{
		Site: site, Address: address, Dashboard: true, Metrics: s.metrics, Now: s.now, Log: slog.New(slog.NewTextHandler(&s.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Twitch:     func() (*person.Twitch, bool) { return tw, true },
		Channels:   func() map[string]string { return map[string]string{s.garden: "garden", s.tea: "tea"} },
		Moderators: func(string) auth.Access { return s.moderators },
		Owners:     noOwners{},
	})
	if err != nil {
		t.Fatal(err)
	}
	made.JoinViewers("my-limits", func(w http.ResponseWriter, _ *http.Request, v auth.Viewer) error {
		s.viewers = append(s.viewers, v)
		w.WriteHeader(http.StatusNoContent)
		return nil
	})
	return made
}

// noOwners are the owners of a chatguard that names none.
type noOwners struct{}

func (noOwners) See(context.Context, person.Account) {}
func (noOwners) Has(string) bool                     { return false }
func (noOwners) Names() []string                     { return nil }

// now returns the time of the dashboard, or of this machine until there is one.
func (s *twitchScene) now() time.Time {
	if s.dashboard == nil {
		return time.Now()
	}
	return s.dashboard.now()
}

// signInCount returns how many sign-ins have ended in a way.
func (s *twitchScene) signInCount(result string) uint64 {
	return s.metrics.GetOrCreateCounter(`chatguard_twitch_sign_ins_total{result="` + result + `"}`).Get()
}

// visitor is a browser at the scene's dashboard.
type visitor struct {
	*twitchScene
	cookies map[string]*http.Cookie
}

func (s *twitchScene) visitor() *visitor { return &visitor{s, map[string]*http.Cookie{}} }

// get requests a page or the API, and keeps the cookies.
func (v *visitor) get(path string) answer { return v.send("GET", path, nil) }

func (v *visitor) send(method, path string, body any, adjust ...func(*http.Request)) answer {
	v.Helper()
	a := v.do(method, path, body, append([]func(*http.Request){v.adjust}, adjust...)...)
	for _, c := range a.Cookies() {
		if c.MaxAge < 0 {
			delete(v.cookies, c.Name)
		} else {
			v.cookies[c.Name] = c
		}
	}
	return a
}

// adjust addresses a request to the public host, with the browser's cookies.
func (v *visitor) adjust(r *http.Request) {
	if public := v.opts.Access.Site.PublicURL; public != nil {
		r.Host = public.Host
	}
	for _, c := range v.cookies {
		r.AddCookie(c)
	}
}

// begin begins a sign-in, and returns the address of Twitch's page.
func (v *visitor) begin(query string) string {
	v.Helper()
	a := v.get("/signin/twitch" + query)
	if a.StatusCode != http.StatusFound {
		v.Fatalf("%s %s", a.Status, a.body)
	}
	return a.Header.Get("Location")
}

// authorize lets an account authorize the application, and returns the path and query to which
// Twitch sends the browser.
func (v *visitor) authorize(page, login string) string {
	v.Helper()
	back, err := v.twitch.Authorize(page, login)
	if err != nil {
		v.Fatal(err)
	}
	return parseURL(back).RequestURI()
}

// signInAs signs in with a Twitch account.
func (v *visitor) signInAs(login string) {
	v.Helper()
	a := v.get(v.authorize(v.begin(""), login))
	if a.StatusCode != http.StatusFound || a.Header.Get("Location") != "../../" {
		v.Fatalf("%s %s", a.Status, a.body)
	}
}

// session returns who is signed in.
func (v *visitor) session() access.SignedInAs {
	v.Helper()
	return decode[access.SignedInAs](v, v.get("/api/v1/session"))
}

// isSignedIn reports whether the browser has a valid session.
func (v *visitor) isSignedIn() bool {
	v.Helper()
	return v.get("/api/v1/session").StatusCode == http.StatusOK
}

// A sign-in takes three requests: to the page that leads to Twitch, the callback, and the dashboard.
func TestTwitchSignIn(t *testing.T) {
	s := dashWithTwitch(t)
	v := s.visitor()
	ways := decode[twitchsignin.Ways](t, v.get("/api/v1/sign-in"))
	if ways != (twitchsignin.Ways{Twitch: twitchsignin.ByCode, Address: "https://chat.example.org/signin/twitch", Viewers: true}) {
		t.Errorf("%+v", ways)
	}
	begun := v.get("/signin/twitch")
	flow := begun.Cookies()[0]
	if begun.StatusCode != http.StatusFound || flow.Name != "__Host-chatguard_signin" || !flow.HttpOnly || !flow.Secure || flow.SameSite != http.SameSiteLaxMode ||
		flow.MaxAge != 600 {
		t.Errorf("%s, cookie %v", begun.Status, flow)
	}
	page := parseURL(begun.Header.Get("Location"))
	if q := page.Query(); q.Get("scope") != "openid user:read:moderated_channels" || q.Get("redirect_uri") != "https://chat.example.org/signin/twitch/callback" ||
		len(q.Get("state")) < 26 || len(q.Get("nonce")) < 26 || q.Get("nonce") == q.Get("state") || !strings.HasPrefix(page.String(), s.twitch.AuthURL()+"/authorize?") {
		t.Errorf("sent to %s", page)
	}
	done := v.get(v.authorize(page.String(), "anna"))
	if done.StatusCode != http.StatusFound || done.Header.Get("Location") != "../../" {
		t.Fatalf("%s %s", done.Status, done.body)
	}
	if len(done.Cookies()) != 2 || done.Cookies()[0].MaxAge >= 0 || done.Cookies()[1].SameSite != http.SameSiteStrictMode || !done.Cookies()[1].HttpOnly || !done.Cookies()[1].Secure {
		t.Errorf("cookies %v", done.Cookies())
	}
	if a := v.get("/"); a.StatusCode != http.StatusOK {
		t.Errorf("the dashboard: %s", a.Status)
	}
	who := v.session()
	if who.Name != "anna" || who.From != auth.FromTwitch || who.Access != auth.Moderate || len(who.Channels) != 1 || who.Channels[s.garden] != auth.Moderate {
		t.Errorf("%+v", who)
	}
	if s.signInCount("ok") != 1 {
		t.Error("not counted")
	}
}

func TestTwitchSignIn_Standing(t *testing.T) {
	s := dashWithTwitch(t)
	s.moderators = auth.Help
	s.twitch.SetModerator("tea", "garden", true)
	s.twitch.SetModerator("tea", "anna", true)
	for login, want := range map[string]map[string]auth.Access{
		"anna":   {s.garden: auth.Help, s.tea: auth.Help},
		"garden": {s.garden: auth.Own, s.tea: auth.Help},
		"tea":    {s.tea: auth.Own},
	} {
		v := s.visitor()
		v.signInAs(login)
		if who := v.session(); !maps.Equal(who.Channels, want) {
			t.Errorf("%s: %+v", login, who)
		}
	}
}

// Nobody else gets in, and no token of theirs is kept.
func TestTwitchSignIn_NotModerator(t *testing.T) {
	s := dashWithTwitch(t)
	v := s.visitor()
	s.twitch.Rename("stranger", `<b>"x"&`)
	a := v.get(v.authorize(v.begin(""), `<b>"x"&`))
	wantPage(t, a, http.StatusForbidden, "On Twitch, you are signed in as &lt;b&gt;&#34;x&#34;&amp;. Only the owners of this chatguard, and the broadcasters and moderators of its channels, may use this dashboard.",
		`href="../../signin/twitch?account=other"`)
	if v.isSignedIn() || s.signInCount("not_moderator") != 1 {
		t.Error("signed in")
	}
	twitchtest.Eventually(t, "the token is revoked", func() bool { return s.twitch.Tokens(`<b>"x"&`) == 0 })
	if page := v.begin("?account=other"); parseURL(page).Query().Get("force_verify") != "true" {
		t.Errorf("another account: %s", page)
	}
}

// wantPage checks that an answer is a page without scripts that says something.
func wantPage(t testing.TB, a answer, status int, says ...string) {
	t.Helper()
	if a.StatusCode != status || a.Header.Get("Content-Type") != "text/html; charset=utf-8" || a.Header.Get("Content-Security-Policy") == "" ||
		a.Header.Get("Cache-Control") != "no-store" || strings.Contains(string(a.body), "<script") {
		t.Errorf("%s %v", a.Status, a.Header)
	}
	for _, text := range says {
		if !strings.Contains(string(a.body), text) {
			t.Errorf("doesn't say %q:\n%s", text, a.body)
		}
	}
}

// Whatever is wrong with the address to which the browser returns, nobody gets in, and Twitch is
// asked nothing.
func TestTwitchSignIn_Callback(t *testing.T) {
	s := dashWithTwitch(t)
	long := strings.Repeat("x", 501)
	for name, c := range map[string]struct {
		change func(url.Values)
		says   string
	}{
		"no state":           {func(q url.Values) { q.Del("state") }, "incomplete or was changed"},
		"an empty state":     {func(q url.Values) { q.Set("state", "") }, "incomplete or was changed"},
		"two states":         {func(q url.Values) { q.Add("state", q.Get("state")) }, "incomplete or was changed"},
		"a forged state":     {func(q url.Values) { q.Set("state", "forged") }, "another browser"},
		"no code":            {func(q url.Values) { q.Del("code") }, "incomplete or was changed"},
		"an empty code":      {func(q url.Values) { q.Set("code", "") }, "incomplete or was changed"},
		"two codes":          {func(q url.Values) { q.Add("code", "another") }, "incomplete or was changed"},
		"a long code":        {func(q url.Values) { q.Set("code", long) }, "incomplete or was changed"},
		"a line break":       {func(q url.Values) { q.Set("code", "a\nb") }, "incomplete or was changed"},
		"not UTF-8":          {func(q url.Values) { q.Set("code", "a\xff") }, "incomplete or was changed"},
		"a code and a error": {func(q url.Values) { q.Set("error", "access_denied") }, "incomplete or was changed"},
		"two errors":         {func(q url.Values) { q.Del("code"); q["error"] = []string{"a", "b"} }, "incomplete or was changed"},
		"denied":             {func(q url.Values) { q.Del("code"); q.Set("error", "access_denied") }, "You have not authorized chatguard"},
		"another error":      {func(q url.Values) { q.Del("code"); q.Set("error", "<b>server_error</b>") }, "Twitch refuses this chatguard"},
		"late":               {func(url.Values) { s.advance(10 * time.Minute) }, "took too long"},
	} {
		v := s.visitor()
		path, query, _ := strings.Cut(v.authorize(v.begin(""), "anna"), "?")
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		c.change(q)
		before := len(s.twitch.Requests())
		a := v.get(path + "?" + q.Encode())
		if !strings.Contains(string(a.body), c.says) || strings.Contains(string(a.body), "<b>") || a.StatusCode < 400 {
			t.Errorf("%s: %s %s", name, a.Status, a.body)
		}
		if v.isSignedIn() || len(s.twitch.Requests()) != before {
			t.Errorf("%s: signed in, or Twitch was asked", name)
		}
		s.advance(time.Hour) // for the limit of beginnings
	}
	for _, query := range []string{"", "?%zz", "?state=%zz", "?;", "?state[]=x"} {
		wantPage(t, s.visitor().get("/signin/twitch/callback"+query), http.StatusBadRequest, "incomplete or was changed")
	}
}

// Only the browser that began a sign-in can complete it, once, with a code that was made for it.
func TestTwitchSignIn_StolenCode(t *testing.T) {
	s := dashWithTwitch(t)
	victim, thief := s.visitor(), s.visitor()
	back := victim.authorize(victim.begin(""), "anna")

	wantPage(t, thief.get(back), http.StatusBadRequest, "another browser")
	own := parseURL(thief.authorize(thief.begin(""), "stranger"))
	wantPage(t, thief.get(back), http.StatusBadRequest, "another browser") // with a cookie of another sign-in
	injected := own.Query()
	injected.Set("code", parseURL(back).Query().Get("code"))
	wantPage(t, thief.get(own.Path+"?"+injected.Encode()), http.StatusBadRequest, "another sign-in than the one that you began")
	if thief.isSignedIn() {
		t.Error("a stolen code has signed somebody in")
	}
	twitchtest.Eventually(t, "the victim's token is revoked", func() bool { return s.twitch.Tokens("anna") == 0 })

	flow := victim.cookies["__Host-chatguard_signin"]
	wantPage(t, victim.get(back), http.StatusBadRequest, "Twitch does not accept it") // the thief used it up
	victim.cookies[flow.Name] = flow
	victim.signInAs("anna")
	victim.cookies[flow.Name] = flow
	wantPage(t, victim.get(back), http.StatusBadRequest, "Twitch does not accept it")
	if !victim.isSignedIn() {
		t.Error("a useless code has signed somebody out")
	}
}

// The sealed cookie can't be changed: neither its nonce, its purpose nor its time.
func TestTwitchSignIn_ForgedCookie(t *testing.T) {
	s := dashWithTwitch(t)
	v := s.visitor()
	back := v.authorize(v.begin(""), "anna")
	flow := *v.cookies["__Host-chatguard_signin"]
	content, seal, _ := strings.Cut(flow.Value, ".")
	text, err := base64.RawURLEncoding.DecodeString(content)
	if err != nil || !strings.Contains(string(text), "dashboard") {
		t.Fatalf("%s, %v", text, err)
	}
	forged := base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(text), "dashboard", "viewer", 1)))
	for _, value := range []string{"", ".", "x", content, content + ".", content + ".AAAA", forged + "." + seal, content + "." + seal + ".x", content + ".%"} {
		flow.Value = value
		v.cookies[flow.Name] = &flow
		wantPage(t, v.get(back), http.StatusBadRequest, "another browser")
	}
	if len(s.viewers) != 0 || v.isSignedIn() {
		t.Error("a forged cookie is accepted")
	}
}

// If Twitch fails or talks nonsense, nobody gets in, the page says so, and no request is repeated.
func TestTwitchSignIn_TwitchFails(t *testing.T) {
	s := dashWithTwitch(t)
	asked := faketwitch.Fault{Status: faketwitch.AsAsked}
	const of = `"login":"anna","user_id":"1000003","scopes":["user:read:moderated_channels"]`
	for name, c := range map[string]struct {
		auth   []faketwitch.Fault
		helix  []faketwitch.Fault
		says   string
		status int
		most   int // requests
	}{
		"no answer":                {auth: []faketwitch.Fault{{}}, says: "Twitch does not answer", status: 502, most: 1},
		"trouble":                  {auth: []faketwitch.Fault{{Status: 500}}, says: "Twitch does not answer", status: 502, most: 1},
		"busy":                     {auth: []faketwitch.Fault{{Status: 429}}, says: "Twitch does not answer", status: 502, most: 1},
		"nonsense":                 {auth: []faketwitch.Fault{{Status: 200, Body: "<html>"}}, says: "unexpected answer", status: 502, most: 1},
		"an empty answer":          {auth: []faketwitch.Fault{{Status: 200, Body: "{}"}}, says: "unexpected answer", status: 502, most: 1},
		"a cut answer":             {auth: []faketwitch.Fault{{Status: faketwitch.AsAsked, Cut: true}}, says: "Twitch does not answer", status: 502, most: 1},
		"a wrong secret":           {auth: []faketwitch.Fault{{Status: 403, Message: "invalid client secret"}}, says: "Twitch refuses this chatguard", status: 502, most: 1},
		"no validation":            {auth: []faketwitch.Fault{asked, {Status: 503}}, says: "Twitch does not answer", status: 502, most: 3},
		"nonsense validation":      {auth: []faketwitch.Fault{asked, {Status: 200, Body: "7"}}, says: "Twitch does not answer", status: 502, most: 3},
		"another application":      {auth: []faketwitch.Fault{asked, {Status: 200, Body: `{"client_id":"another",` + of + `}`}}, says: "another sign-in", status: 400, most: 3},
		"no scope":                 {auth: []faketwitch.Fault{asked, {Status: 200, Body: `{"client_id":"fake0client0id","login":"anna","user_id":"1000003"}`}}, says: "not authorized", status: 403, most: 3},
		"an invalid token":         {auth: []faketwitch.Fault{asked, {Status: 401}}, says: "unexpected answer", status: 502, most: 3},
		"no channels":              {helix: []faketwitch.Fault{{Status: 500}}, says: "Twitch does not answer", status: 502, most: 4},
		"channels for another":     {helix: []faketwitch.Fault{{Status: 401, Message: "The ID in user_id must match the user ID found in the request's OAuth token."}}, says: "unexpected answer", status: 502, most: 4},
		"channels without a scope": {helix: []faketwitch.Fault{{Status: 401, Message: "Missing scope: user:read:moderated_channels"}}, says: "not authorized", status: 403, most: 4},
	} {
		v := s.visitor()
		back := v.authorize(v.begin(""), "anna")
		before := len(s.twitch.Requests())
		s.twitch.FailNextAuth(c.auth...)
		s.twitch.FailNext(c.helix...)
		a := v.get(back)
		if a.StatusCode != c.status || !strings.Contains(string(a.body), c.says) {
			t.Errorf("%s: %s %s", name, a.Status, a.body)
		}
		if v.isSignedIn() || len(s.signIns.List()) != 0 {
			t.Errorf("%s: signed in", name)
		}
		if n := len(s.twitch.Requests()) - before; n > c.most {
			t.Errorf("%s: %d requests", name, n)
		}
		s.advance(time.Hour)
		if name == "a cut answer" {
			s.twitch.DisconnectAccount("anna") // the token arrived nowhere
		}
		twitchtest.Eventually(t, name+": no token is left", func() bool { return s.twitch.Tokens("anna") == 0 })
	}
	v := s.visitor()
	v.signInAs("anna") // nothing is lost
}

// A viewer only says who they are: without a scope, without a session, and their token is revoked.
func TestTwitchSignIn_Viewer(t *testing.T) {
	s := dashWithTwitch(t)
	s.twitch.Rename("stranger", "Stranger")
	v := s.visitor()
	page := v.begin("?for=viewer")
	if scope := parseURL(page).Query().Get("scope"); scope != "openid" {
		t.Errorf("scope %q", scope)
	}
	if a := v.get(v.authorize(page, "stranger")); a.StatusCode != http.StatusNoContent {
		t.Fatalf("%s %s", a.Status, a.body)
	}
	if want := (auth.Viewer{ID: s.twitch.UserID("stranger"), Login: "stranger", DisplayName: "Stranger"}); len(s.viewers) != 1 || s.viewers[0] != want {
		t.Errorf("%+v", s.viewers)
	}
	if v.isSignedIn() || len(s.signIns.List()) != 0 {
		t.Error("a viewer has a session")
	}
	twitchtest.Eventually(t, "the token is revoked", func() bool { return s.twitch.Tokens("stranger") == 0 })
	back, err := s.twitch.DenyAuthorize(v.begin("?for=viewer"))
	if err != nil {
		t.Fatal(err)
	}
	wantPage(t, v.get(parseURL(back).RequestURI()), http.StatusForbidden, `href="../../my-limits"`, `href="../../signin/twitch?account=other&amp;for=viewer"`)
	wantPage(t, v.get("/signin/twitch?for=owner"), http.StatusNotFound, "Signing in with Twitch is off", `href="../"`)
}

// A sign-in leads to nowhere but the dashboard.
func TestTwitchSignIn_NoOpenRedirect(t *testing.T) {
	s := dashWithTwitch(t)
	for _, query := range []string{"?next=https://evil.example", "?redirect_uri=https://evil.example", "?return=//evil.example&state=x"} {
		v := s.visitor()
		page := v.begin(query)
		if strings.Contains(page, "evil") {
			t.Errorf("%s: sent to %s", query, page)
		}
		if a := v.get(v.authorize(page, "anna") + "&next=//evil.example"); a.Header.Get("Location") != "../../" {
			t.Errorf("%s: %s, sent to %q", query, a.Status, a.Header.Get("Location"))
		}
	}
}

// A session that somebody else has put into the browser isn't continued.
func TestTwitchSignIn_Fixation(t *testing.T) {
	s := dashWithTwitch(t)
	attacker, victim := s.visitor(), s.visitor()
	attacker.signInAs("tea")
	planted := attacker.cookies["__Host-chatguard"]
	victim.cookies[planted.Name] = planted
	victim.signInAs("anna")
	if victim.cookies[planted.Name].Value == planted.Value || victim.session().Name != "anna" {
		t.Error("the planted session was continued")
	}
	if attacker.isSignedIn() {
		t.Error("the session that the browser had before has not ended")
	}
	for _, value := range []string{"member-", "member-x", ""} {
		victim.cookies[planted.Name].Value = value
		if victim.isSignedIn() {
			t.Errorf("%q is a session", value)
		}
	}
}

func TestTwitchSignIn_SignOutRevokes(t *testing.T) {
	s := dashWithTwitch(t)
	v := s.visitor()
	v.signInAs("anna")
	if a := v.send("DELETE", "/api/v1/session", nil); a.StatusCode != http.StatusNoContent {
		t.Errorf("%s %s", a.Status, a.body)
	}
	if v.isSignedIn() {
		t.Error("still signed in")
	}
	twitchtest.Eventually(t, "the token is revoked", func() bool { return s.twitch.Tokens("anna") == 0 })
}

// After a change, a right needs Twitch's fresh answer; reading goes on for a while.
func TestTwitchSignIn_RightAfterChange(t *testing.T) {
	s := dashWithTwitch(t)
	v := s.visitor()
	v.signInAs("anna")
	pause := func() answer { return v.send("POST", "/api/v1/channels/"+s.garden+"/pause", nil) }
	if a := pause(); a.StatusCode != http.StatusOK {
		t.Fatalf("%s %s", a.Status, a.body)
	}
	s.signIns.NoteChange(s.garden, s.twitch.UserID("anna"))
	s.twitch.FailAuth(&faketwitch.Fault{Status: 500})
	if a := pause(); a.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(a.body), "Twitch does not say whether you still moderate") || a.Header.Get("Retry-After") != "5" {
		t.Errorf("while Twitch fails: %s %s", a.Status, a.body)
	}
	if !v.isSignedIn() {
		t.Error("reading ended at once")
	}
	s.twitch.FailAuth(nil)
	s.advance(30 * time.Second)
	if a := pause(); a.StatusCode != http.StatusOK {
		t.Errorf("Twitch confirms: %s %s", a.Status, a.body)
	}
	s.twitch.SetModerator("garden", "anna", false)
	s.signIns.NoteChange(s.garden, s.twitch.UserID("anna"))
	if a := pause(); a.StatusCode != http.StatusUnauthorized || v.isSignedIn() {
		t.Errorf("no moderator any longer: %s %s", a.Status, a.body)
	}
}

// An address can begin only a few sign-ins.
func TestTwitchSignIn_Limited(t *testing.T) {
	s := dashWithTwitch(t, func(o *Options) { o.Access.Site.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	s.stopClock()
	from := func(address string) answer {
		return s.visitor().send("GET", "/signin/twitch", nil, setHeader("X-Forwarded-For", address))
	}
	for range 20 {
		if a := from("192.0.2.1"); a.StatusCode != http.StatusFound {
			t.Fatalf("%s %s", a.Status, a.body)
		}
	}
	a := from("192.0.2.1")
	wantPage(t, a, http.StatusTooManyRequests, "Too many sign-ins")
	if a.Header.Get("Retry-After") != "5" || s.signInCount("limited") != 1 {
		t.Errorf("%v", a.Header)
	}
	if a := from("192.0.2.2"); a.StatusCode != http.StatusFound {
		t.Errorf("another address: %s", a.Status)
	}
}

// A client that keeps the cookie of a sign-in can't make chatguard ask Twitch about any number of
// codes.
func TestTwitchSignIn_ReturnsLimited(t *testing.T) {
	s := dashWithTwitch(t)
	s.stopClock()
	v := s.visitor()
	back := parseURL(v.authorize(v.begin(""), "anna"))
	flow := v.cookies["__Host-chatguard_signin"]
	from := func(code string) answer {
		v.cookies[flow.Name] = flow
		q := back.Query()
		q.Set("code", code)
		return v.get(back.Path + "?" + q.Encode())
	}
	for i := range 20 {
		wantPage(t, from(fmt.Sprint("guess", i)), http.StatusBadRequest, "Twitch does not accept it")
	}
	before := len(s.twitch.Requests())
	wantPage(t, from("guess"), http.StatusTooManyRequests, "Too many sign-ins")
	if len(s.twitch.Requests()) != before {
		t.Error("Twitch was asked beyond the limit")
	}
	if v.cookies[flow.Name] == nil {
		t.Error("the limit has ended the sign-in")
	}
	s.advance(5 * time.Second)
	if a := from(back.Query().Get("code")); a.StatusCode != http.StatusFound || !v.isSignedIn() {
		t.Errorf("after a wait: %s %s", a.Status, a.body)
	}
}

// The browser must be at the host to which Twitch sends it back. It is sent there only once, because
// a proxy may hide the host.
func TestTwitchSignIn_AnotherHost(t *testing.T) {
	s := dashWithTwitch(t)
	a := s.do("GET", "/signin/twitch?for=viewer", nil)
	if want := "https://chat.example.org/signin/twitch?for=viewer&once="; a.StatusCode != http.StatusFound || a.Header.Get("Location") != want {
		t.Errorf("%s, sent to %s", a.Status, a.Header.Get("Location"))
	}
	if a := s.do("GET", "/signin/twitch?for=viewer&once=", nil); !strings.HasPrefix(a.Header.Get("Location"), s.twitch.AuthURL()) {
		t.Errorf("%s, sent to %s", a.Status, a.Header.Get("Location"))
	}
}

func TestTwitchSignIn_BelowPath(t *testing.T) {
	s := dashWithTwitch(t, func(o *Options) { o.Access.Site.PublicURL = parseURL("https://chat.example.org/guard/") })
	v := s.visitor()
	page := v.begin("")
	if got := parseURL(page).Query().Get("redirect_uri"); got != "https://chat.example.org/guard/signin/twitch/callback" {
		t.Errorf("%s", got)
	}
	back := strings.TrimPrefix(v.authorize(page, "anna"), "/guard") // as the proxy does
	a := v.get(back)
	if a.Header.Get("Location") != "../../" || a.Cookies()[1].Path != "/guard" {
		t.Errorf("sent to %s, cookies %v", a.Header.Get("Location"), a.Cookies())
	}
}

func TestTwitchSignIn_Off(t *testing.T) {
	for name, d := range map[string]*dashboard{"off": dash(t), "mounted": dashWithTwitch(t, mountInSite).dashboard} {
		if a := d.do("GET", "/api/v1/sign-in", nil); string(a.body) != "{}\n" {
			t.Errorf("%s: %s %s", name, a.Status, a.body)
		}
		for _, path := range []string{"/signin/twitch", "/signin/twitch/callback?code=x&state=y", "/api/v1/session/device"} {
			d.wantStatus(fmt.Sprintf("%s: %s", name, path), http.StatusNotFound, "GET", path, nil)
		}
		d.wantStatus(name, http.StatusNotFound, "POST", "/api/v1/session/device", nil)
	}
}

// Without a secret, people at this machine sign in by device code.
func TestTwitchSignIn_Device(t *testing.T) {
	s := dashWithTwitchAt(t, "")
	v := s.visitor()
	if ways := decode[twitchsignin.Ways](t, v.get("/api/v1/sign-in")); ways != (twitchsignin.Ways{Twitch: twitchsignin.ByDevice}) {
		t.Errorf("%+v", ways)
	}
	wantPage(t, v.get("/signin/twitch"), http.StatusNotFound, "Signing in with Twitch is off")
	d := decode[twitchsignin.Device](t, v.send("POST", "/api/v1/session/device", nil))
	if d.State != twitchsignin.DeviceWaiting || d.UserCode == "" || !strings.Contains(d.Address, d.UserCode) || d.Interval != 5 {
		t.Errorf("%+v", d)
	}
	before := len(s.twitch.Requests())
	for range 3 {
		if now := decode[twitchsignin.Device](t, v.get("/api/v1/session/device")); now != d {
			t.Errorf("at once: %+v", now)
		}
	}
	if n := len(s.twitch.Requests()) - before; n != 0 {
		t.Errorf("%d requests within the interval", n)
	}
	s.advance(5 * time.Second)
	if now := decode[twitchsignin.Device](t, v.get("/api/v1/session/device")); now != d {
		t.Errorf("nobody has entered it: %+v", now)
	}
	s.twitch.ApproveAs(d.UserCode, "anna")
	s.advance(5 * time.Second)
	if a := s.visitor().get("/api/v1/session/device"); a.StatusCode != http.StatusBadRequest {
		t.Errorf("another browser: %s %s", a.Status, a.body)
	}
	if now := decode[twitchsignin.Device](t, v.get("/api/v1/session/device")); now.State != twitchsignin.DeviceDone {
		t.Errorf("%+v", now)
	}
	if who := v.session(); who.Name != "anna" || who.Channels[s.garden] != auth.Moderate {
		t.Errorf("%+v", who)
	}
	if a := v.get("/api/v1/session/device"); a.StatusCode != http.StatusBadRequest {
		t.Errorf("again: %s", a.Status)
	}
}

func TestTwitchSignIn_DeviceRefused(t *testing.T) {
	s := dashWithTwitchAt(t, "")
	begin := func() (*visitor, twitchsignin.Device) {
		v := s.visitor()
		return v, decode[twitchsignin.Device](t, v.send("POST", "/api/v1/session/device", nil))
	}
	for name, c := range map[string]struct {
		prepare func(d twitchsignin.Device)
		status  int
		says    string
	}{
		"denied":       {func(d twitchsignin.Device) { s.twitch.Deny(d.UserCode) }, 403, "not authorized"},
		"no moderator": {func(d twitchsignin.Device) { s.twitch.ApproveAs(d.UserCode, "stranger") }, 403, "signed in as stranger"},
		"late":         {func(twitchsignin.Device) { s.advance(30 * time.Minute) }, 400, "took too long"},
	} {
		v, d := begin()
		c.prepare(d)
		s.advance(5 * time.Second)
		if a := v.get("/api/v1/session/device"); a.StatusCode != c.status || !strings.Contains(string(a.body), c.says) || v.isSignedIn() {
			t.Errorf("%s: %s %s", name, a.Status, a.body)
		}
	}
	s.twitch.FailNextAuth(faketwitch.Fault{Status: 500})
	if a := s.visitor().send("POST", "/api/v1/session/device", nil); a.StatusCode != http.StatusBadGateway {
		t.Errorf("Twitch fails: %s %s", a.Status, a.body)
	}
	for _, header := range []string{"X-Forwarded-For", "Via"} { // a proxy lets strangers in
		if a := s.visitor().send("POST", "/api/v1/session/device", nil, setHeader(header, "192.0.2.1")); a.StatusCode != http.StatusNotFound {
			t.Errorf("through a proxy: %s", a.Status)
		}
	}
	public := dashWithTwitchAt(t, "", func(o *Options) { o.Access.Site.PublicURL = parseURL("https://chat.example.org") })
	if a := public.visitor().send("POST", "/api/v1/session/device", nil); a.StatusCode != http.StatusNotFound {
		t.Errorf("with a public address: %s", a.Status)
	}
}

// A viewer signs in at Twitch and sees their own standing, but no dashboard.
func TestViewer_SignsInWithTwitch(t *testing.T) {
	s := dashWithTwitch(t, showViewers)
	v := s.visitor()
	a := v.get(v.authorize(v.begin("?for=viewer"), "stranger"))
	if a.StatusCode != http.StatusFound || a.Header.Get("Location") != "../../viewer" {
		t.Fatalf("%s to %s: %s", a.Status, a.Header.Get("Location"), a.body)
	}
	if c := v.cookies["__Host-chatguard_viewer"]; c == nil || !c.Secure || !c.HttpOnly {
		t.Errorf("cookies %v", v.cookies)
	}
	if got := decode[viewerStanding](t, v.get("/api/v1/viewer?channel=garden")); got.Login != "stranger" || got.Channel != "garden" || !got.MayWrite {
		t.Errorf("%+v", got)
	}
	if v.isSignedIn() {
		t.Error("the dashboard is open")
	}
}

package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web/live"
)

// showViewers turns the page for viewers on.
func showViewers(o *Options) { o.ViewerPage = true }

// behindProxy makes this machine a trusted proxy, so that X-Forwarded-For says who asks.
func behindProxy(o *Options) {
	o.Access.Site.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
}

func viewerOf(user chatguard.User) auth.Viewer {
	return auth.Viewer{ID: user.ID, Login: user.Login, DisplayName: user.DisplayName}
}

// viewerCookie returns the cookie of a viewer who has signed in.
func (d *dashboard) viewerCookie(v auth.Viewer) *http.Cookie {
	d.Helper()
	w := httptest.NewRecorder()
	d.server.viewers.sessions.Begin(w, httptest.NewRequest("GET", "http://"+d.address+"/", nil), v)
	return w.Result().Cookies()[0]
}

// asViewer adds a viewer's cookie to a request.
func (d *dashboard) asViewer(v auth.Viewer) func(*http.Request) { return addCookie(d.viewerCookie(v)) }

// standing returns what a viewer sees.
func (d *dashboard) standing(v auth.Viewer) viewerStanding {
	d.Helper()
	return decode[viewerStanding](d, d.do("GET", "/api/v1/viewer?channel=somechannel", nil, d.asViewer(v)))
}

func TestViewer_Standing(t *testing.T) {
	d := dash(t, showViewers)
	d.stopClock()
	fresh := d.standing(viewerOf(spammer))
	if !fresh.MayWrite || fresh.Reason != "" || !fresh.NextAt.IsZero() || fresh.Channel != "somechannel" || fresh.DisplayName != "Spammer" || !fresh.Now.Equal(d.now()) ||
		len(fresh.Limits) != 2 || fresh.Limits[0].Remaining != 3 || fresh.Limits[0].Capacity != 3 || fresh.Limits[0].StepSeconds != 600 || fresh.Limits[1].WindowSeconds != 86400 {
		t.Errorf("before the first message: %+v", fresh)
	}
	if m := d.guard.Memory(); m.Users != 0 {
		t.Errorf("the Guard remembers %d users who have never written", m.Users)
	}
	last := d.say(spammer, 4)
	held := d.standing(viewerOf(spammer))
	if held.MayWrite || held.Reason != reasonLimit || held.Limit != "burst" || !held.NextAt.Equal(journal.MaySpeakAt(last)) || held.Limits[0].Remaining != 0 || held.Limits[0].Used != 3 ||
		held.Limits[1].Remaining != 297 {
		t.Errorf("throttled: %+v", held)
	}
	d.advance(10 * time.Minute)
	if again := d.standing(viewerOf(spammer)); !again.MayWrite || again.Limits[0].Remaining != 1 {
		t.Errorf("later: %+v", again)
	}
	for range 3 {
		d.standing(viewerOf(spammer))
	}
	if v := d.say(spammer, 1); !v.Allowed {
		t.Errorf("looking has spent something: %v", v)
	}
}

// A viewer reads a limit's title, or a usual name in their language.
func TestViewer_Titles(t *testing.T) {
	d := dash(t, showViewers)
	policy := d.guard.Policy()
	policy.Limits[0].Title = "<b>quick</b>"
	if err := d.guard.SetPolicy(policy); err != nil {
		t.Fatal(err)
	}
	for language, want := range map[string]string{"en": "<b>quick</b>, daily", "de-AT": "<b>quick</b>, täglich", "tlh": "<b>quick</b>, daily"} {
		asked := func(r *http.Request) { r.Header.Set("Accept-Language", language) }
		s := decode[viewerStanding](d, d.do("GET", "/api/v1/viewer?channel=somechannel", nil, d.asViewer(viewerOf(spammer)), asked))
		if got := s.Limits[0].Title + ", " + s.Limits[1].Title; got != want || s.Limits[1].Name != "daily" {
			t.Errorf("%s: %s, %+v", language, got, s.Limits)
		}
	}
}

// A viewer's wait is that of the next message, with every algorithm.
func TestViewer_WaitOfEveryAlgorithm(t *testing.T) {
	for _, limit := range append([]chatguard.Limit{
		chatguard.TokenBucketLimit("bucket", 2, time.Minute),
		{Name: "cascade", Algorithm: chatguard.Cascade, Burst: 1, Refill: time.Minute, ExtraBurst: 2, ExtraRefill: time.Hour},
		{Name: "day", Algorithm: chatguard.DailyWindow, Messages: 2},
		{Name: "window", Algorithm: chatguard.FixedWindow, Messages: 2, Every: time.Minute},
	}, everyAlgorithm...) {
		if inner.IsShared(limit.Per) || limit.Mode == chatguard.ModeObserve {
			continue
		}
		limit.Messages = min(limit.Messages, 5)
		limit.Roles, limit.Slices = nil, 0
		d := dash(t, showViewers)
		d.stopClock()
		if err := inner.At(d.guard, d.now()).SetPolicy(chatguard.Policy{Limits: []chatguard.Limit{limit}}); err != nil {
			t.Fatalf("%s: %v", limit.Name, err)
		}
		for range 8 {
			s := d.standing(viewerOf(spammer))
			v := d.say(spammer, 1)
			if s.MayWrite != v.Allowed || !v.Allowed && !s.NextAt.Equal(journal.MaySpeakAt(v)) {
				t.Errorf("%s: the viewer sees %+v, and then %v", limit.Name, s, v)
			}
			d.advance(500 * time.Millisecond)
		}
	}
}

// What a text has is nobody's: a viewer reads what a limit on repeated text allows, and no usage.
func TestViewer_SameText(t *testing.T) {
	window := func(name string, algorithm chatguard.Algorithm, edit func(*chatguard.Limit)) chatguard.Limit {
		l := chatguard.Limit{Name: name, Algorithm: algorithm, Per: chatguard.PerUserText, Title: strings.ToUpper(name)}
		edit(&l)
		return l
	}
	d := dash(t, showViewers, addLimits(t,
		window("log", chatguard.SlidingLog, func(l *chatguard.Limit) { l.Messages, l.Every, l.Similar = 2, time.Minute, true }),
		window("bucket", chatguard.TokenBucket, func(l *chatguard.Limit) { l.Burst, l.Refill = 3, 10*time.Second }),
		window("two", chatguard.Cascade, func(l *chatguard.Limit) {
			l.Burst, l.Refill, l.ExtraBurst, l.ExtraRefill = 3, 10*time.Second, 2, time.Minute
		}),
		window("week", chatguard.DailyWindow, func(l *chatguard.Limit) { l.Messages, l.Period, l.Per = 9, chatguard.PeriodWeek, chatguard.PerText }),
	))
	s := d.standing(viewerOf(spammer))
	want := []viewerRule{
		{"log", "LOG", chatguard.SlidingLog, 2, 60, 0, true, false}, {"bucket", "BUCKET", chatguard.TokenBucket, 3, 30, 10, false, false},
		{"two", "TWO", chatguard.Cascade, 5, 120, 0, false, false}, {"week", "WEEK", chatguard.DailyWindow, 9, 7 * 86400, 0, false, true},
	}
	if !slices.Equal(s.SameText, want) || len(s.Limits) != 2 {
		t.Errorf("%+v", s)
	}
}

// Of others, a viewer sees nothing: the answer is the same whether others have used up what
// everyone shares, or nothing of it.
func TestViewer_NothingAboutOthers(t *testing.T) {
	d := dash(t, showViewers, addLimits(t, chatguard.Limit{Name: "crowd", Algorithm: chatguard.UserWindow, Per: chatguard.PerChannel, Messages: 4, Every: time.Hour}))
	d.stopClock()
	body := func() string {
		return string(d.do("GET", "/api/v1/viewer", nil, d.asViewer(viewerOf(spammer))).body)
	}
	before := body()
	d.say(chatguard.User{ID: "43", Login: "berta"}, 2)
	if after := body(); after != before {
		t.Errorf("after somebody's messages: %s\nbefore: %s", after, before)
	}
	d.say(chatguard.User{ID: "44", Login: "carla"}, 2)
	s := d.standing(viewerOf(spammer))
	if s.MayWrite || s.Reason != reasonBusy || !s.NextAt.IsZero() || s.Limit != "" || len(s.Limits) != 2 {
		t.Errorf("the channel is full: %+v", s)
	}
	if text := body(); strings.Contains(text, "crowd") || strings.Contains(text, "berta") {
		t.Errorf("says too much: %s", text)
	}
}

// Timeouts and bans are known at once, and nobody is named.
func TestViewer_Silence(t *testing.T) {
	d := dash(t, showViewers)
	d.stopClock()
	const user = "/api/v1/channels/7/users/42"
	d.do("POST", user+"/notes", map[string]string{"text": "a secret note"}, asOwner)
	d.standing(viewerOf(spammer))
	d.do("POST", user+"/timeout", map[string]string{"length": "10m", "reason": "a secret reason"}, asOwner)
	a := d.do("GET", "/api/v1/viewer", nil, d.asViewer(viewerOf(spammer)))
	s := decode[viewerStanding](t, a)
	if s.MayWrite || s.Reason != reasonTimeout || !s.NextAt.Equal(d.now().Add(10*time.Minute)) || s.Never {
		t.Errorf("timed out: %s", a.body)
	}
	for _, secret := range []string{"secret", "owner", "note", "strike"} {
		if strings.Contains(string(a.body), secret) {
			t.Errorf("names %q: %s", secret, a.body)
		}
	}
	d.do("DELETE", user+"/timeout", nil, asOwner)
	if s := d.standing(viewerOf(spammer)); !s.MayWrite {
		t.Errorf("lifted: %+v", s)
	}
	d.do("POST", user+"/ban", nil, asOwner)
	if s := d.standing(viewerOf(spammer)); s.MayWrite || s.Reason != reasonBan || !s.NextAt.IsZero() {
		t.Errorf("banned: %+v", s)
	}
	d.flush()
	d.restart()
	if s := d.standing(viewerOf(spammer)); s.MayWrite || s.Reason != reasonBan {
		t.Errorf("after a restart: %+v", s)
	}
	d.do("DELETE", user+"/ban", nil, asOwner)
	if s := d.standing(viewerOf(spammer)); !s.MayWrite {
		t.Errorf("unbanned after a restart: %+v", s)
	}
}

// The longer one of a timeout and a limit counts.
func TestViewerStanding_AddSilence(t *testing.T) {
	now := time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)
	held := viewerStanding{Now: now, Reason: reasonLimit, Limit: "burst", NextAt: now.Add(time.Minute)}
	free := viewerStanding{Now: now, MayWrite: true}
	for _, c := range []struct {
		s      viewerStanding
		banned bool
		until  time.Duration
		reason viewerReason
		next   time.Duration
	}{
		{free, false, 0, "", 0},
		{free, false, -time.Minute, "", 0},
		{free, false, time.Second, reasonTimeout, time.Second},
		{held, false, time.Second, reasonLimit, time.Minute},
		{held, false, time.Hour, reasonTimeout, time.Hour},
		{held, true, 0, reasonBan, 0},
		{viewerStanding{Now: now, Reason: reasonBusy}, false, time.Second, reasonTimeout, time.Second},
		{viewerStanding{Now: now, Reason: reasonLimit, Never: true}, false, time.Second, reasonLimit, 0},
	} {
		s := c.s
		s.addSilence(c.banned, now.Add(c.until))
		next := time.Time{}
		if c.next > 0 {
			next = now.Add(c.next)
		}
		if s.MayWrite != (c.reason == "") || s.Reason != c.reason || !s.NextAt.Equal(next) {
			t.Errorf("%+v: %+v", c, s)
		}
	}
}

// The roles that a viewer had when last seen count. A broadcaster is known without.
func TestViewer_Roles(t *testing.T) {
	d := dash(t, showViewers)
	moderator := chatguard.User{ID: "50", Login: "mod", Roles: chatguard.Roles{chatguard.RoleModerator}}
	d.say(moderator, 1)
	d.flush()
	for _, id := range []string{"50", channelID} {
		if s := d.standing(auth.Viewer{ID: id, Login: "x"}); !s.Exempt || !s.MayWrite || len(s.Limits) != 0 {
			t.Errorf("%s: %+v", id, s)
		}
	}
}

func TestViewer_Switches(t *testing.T) {
	d := dash(t, showViewers)
	d.say(spammer, 4)
	d.do("POST", "/api/v1/channels/7/raid", nil, asOwner)
	if s := d.standing(viewerOf(spammer)); s.RaidUntil.IsZero() || s.Observing || s.MayWrite {
		t.Errorf("raid mode: %+v", s)
	}
	d.do("POST", "/api/v1/channels/7/pause", nil, asOwner)
	d.advance(viewerChannelsAge)
	if s := d.standing(viewerOf(spammer)); !s.Observing || !s.MayWrite || s.Limits[0].Remaining != 0 {
		t.Errorf("paused: %+v", s)
	}
}

// While the database is failing, a viewer still sees what the Guard knows.
func TestViewer_DatabaseFails(t *testing.T) {
	d := dash(t, showViewers)
	d.say(spammer, 4)
	d.store.reads.set(fmt.Errorf("disk full"))
	if s := d.standing(viewerOf(spammer)); s.MayWrite || s.Reason != reasonLimit {
		t.Errorf("%+v", s)
	}
}

// No session of the dashboard is one of a viewer, and the other way around.
func TestViewer_SessionsApart(t *testing.T) {
	d := dash(t, showViewers)
	moderators, viewers := d.signIn(map[string]string{"code": "good-code"}), d.viewerCookie(viewerOf(spammer))
	d.wantStatus("a moderator as a viewer", http.StatusUnauthorized, "GET", "/api/v1/viewer", nil, addCookie(moderators))
	d.wantStatus("the owner as a viewer", http.StatusUnauthorized, "GET", "/api/v1/viewer", nil, asOwner)
	renamed, swapped := *viewers, *moderators
	renamed.Name, swapped.Name = moderators.Name, viewers.Name
	for _, c := range []*http.Cookie{viewers, &renamed} {
		for _, r := range d.server.api() {
			method, path, _ := strings.Cut(r.pattern, " ")
			path = strings.NewReplacer("{channel}", channelID, "{id}", "42", "{entry}", "1").Replace("/api/v1" + path)
			d.wantStatus(fmt.Sprintf("%s with a viewer's cookie", r.pattern), http.StatusUnauthorized, method, path, nil, addCookie(c))
		}
	}
	d.wantStatus("a moderator's session in a viewer's cookie", http.StatusUnauthorized, "GET", "/api/v1/viewer", nil, addCookie(&swapped))
	if a := d.do("DELETE", "/api/v1/viewer", nil, addCookie(viewers)); a.StatusCode != http.StatusNoContent || len(a.Cookies()) != 1 || a.Cookies()[0].MaxAge >= 0 {
		t.Errorf("signing out: %s %v", a.Status, a.Cookies())
	}
}

func TestViewer_LimitPerViewer(t *testing.T) {
	d := dash(t, showViewers, behindProxy)
	d.stopClock()
	v := d.asViewer(viewerOf(spammer))
	for i := range viewerBurst + 1 {
		a := d.do("GET", "/api/v1/viewer", nil, v, setHeader("X-Forwarded-For", fmt.Sprint("192.0.2.", i)))
		if refused := a.StatusCode == http.StatusTooManyRequests; refused != (i == viewerBurst) || refused && a.Header.Get("Retry-After") != "2" {
			t.Fatalf("request %d: %s, Retry-After %s", i, a.Status, a.Header.Get("Retry-After"))
		}
	}
	other := viewerOf(chatguard.User{ID: "43"})
	d.wantStatus("another viewer", http.StatusOK, "GET", "/api/v1/viewer", nil, d.asViewer(other), setHeader("X-Forwarded-For", "192.0.2.1"))
	d.advance(viewerRefill)
	d.wantStatus("later", http.StatusOK, "GET", "/api/v1/viewer", nil, v)
}

// An address is limited whether or not its cookies are valid.
func TestViewer_LimitPerAddress(t *testing.T) {
	d := dash(t, showViewers, behindProxy)
	d.stopClock()
	from := setHeader("X-Forwarded-For", "192.0.2.1")
	for i := range addressBurst {
		if a := d.do("GET", "/api/v1/viewer", nil, from); a.StatusCode != http.StatusUnauthorized {
			t.Fatalf("request %d: %s", i, a.Status)
		}
	}
	if a := d.do("GET", "/api/v1/viewer", nil, from, d.asViewer(viewerOf(spammer))); a.StatusCode != http.StatusTooManyRequests || a.Header.Get("Retry-After") != "1" {
		t.Errorf("%s, Retry-After %s", a.Status, a.Header.Get("Retry-After"))
	}
	d.wantStatus("from another address", http.StatusOK, "GET", "/api/v1/viewer", nil, setHeader("X-Forwarded-For", "192.0.2.2"), d.asViewer(viewerOf(spammer)))
}

// Viewers without a proxy don't hold the connections that moderators need.
func TestViewer_Connections(t *testing.T) {
	for proxied, adjust := range map[bool]func(*Options){false: func(*Options) {}, true: behindProxy} {
		d := dash(t, showViewers, adjust)
		if a := d.do("GET", "/api/v1/viewer", nil, d.asViewer(viewerOf(spammer))); a.Close == proxied {
			t.Errorf("behind a proxy: %v; the connection is closed: %v", proxied, a.Close)
		}
	}
}

func TestViewer_Channels(t *testing.T) {
	d := dash(t, showViewers, func(o *Options) {
		o.Check.Space = "check:"
		o.Live.Channels = func() []live.Channel {
			return []live.Channel{{ID: channelID, Login: "somechannel"}, {ID: "8", Login: "Tea"}, {ID: "check:lobby", Login: "lobby"}}
		}
	})
	v := d.asViewer(viewerOf(spammer))
	for query, want := range map[string]int{"?channel=SomeChannel": 200, "?channel=tea": 200, "?channel=lobby": 404, "?channel=7": 404, "": 200, "?channel=x&user=43": 422} {
		if a := d.do("GET", "/api/v1/viewer"+query, nil, v); a.StatusCode != want || want == 404 && !strings.Contains(string(a.body), "There is no channel") {
			t.Errorf("%s: %s %s", query, a.Status, a.body)
		}
	}
}

// The address with a channel leads to the page, below any path.
func TestViewer_AddressOfChannel(t *testing.T) {
	d := dash(t, showViewers)
	d.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for path, want := range map[string]string{"/viewer/somechannel": "../viewer?channel=somechannel", "/viewer/a&b%2F%0A": "../viewer?channel=a%26b%2F%0A"} {
		if a := d.do("GET", path, nil); a.StatusCode != http.StatusFound || a.Header.Get("Location") != want {
			t.Errorf("%s: %s to %s", path, a.Status, a.Header.Get("Location"))
		}
	}
}

func TestViewer_Off(t *testing.T) {
	for name, adjust := range map[string]func(*Options){
		"off":     func(*Options) {},
		"mounted": func(o *Options) { showViewers(o); mountInSite(o) },
	} {
		d := dash(t, adjust)
		for _, path := range []string{"/viewer", "/viewer.html", "/viewer/somechannel", "/api/v1/viewer"} {
			d.wantStatus(fmt.Sprintf("%s: %s", name, path), http.StatusNotFound, "GET", path, nil)
		}
	}
	if a := dash(t, showViewers).do("GET", "/viewer", nil); a.StatusCode != http.StatusOK || !strings.Contains(string(a.body), "viewers/main.js") {
		t.Errorf("on: %s", a.Status)
	}
}

// Many viewers look at the same time. Each sees only their own standing. What is remembered of them
// is bounded, and nothing is remembered where messages are judged.
func TestViewer_ManyAtOnce(t *testing.T) {
	const all, writers, kept = 300, 100, 50
	d := dash(t, showViewers, behindProxy)
	d.server.viewers.records.known.Size = kept
	d.stopClock()
	for i := range writers {
		d.say(chatguard.User{ID: fmt.Sprint(1000 + i), Login: fmt.Sprint("viewer", i)}, 1+i%4)
	}
	before := d.guard.Memory().Users
	next := make(chan int)
	var asking sync.WaitGroup
	for range 50 {
		asking.Go(func() {
			for i := range next {
				v := auth.Viewer{ID: fmt.Sprint(1000 + i), Login: fmt.Sprint("viewer", i)}
				from := setHeader("X-Forwarded-For", fmt.Sprintf("10.%d.%d.1", i/200, i%200))
				s := decode[viewerStanding](d, d.do("GET", "/api/v1/viewer", nil, d.asViewer(v), from))
				used := 0
				if i < writers {
					used = min(1+i%4, 3)
				}
				if s.Login != v.Login || s.MayWrite != (used < 3) || s.Limits[0].Used != used {
					t.Errorf("viewer %d sees %+v", i, s)
				}
			}
		})
	}
	for i := range all {
		next <- i
	}
	close(next)
	asking.Wait()
	if after := d.guard.Memory().Users; after != before {
		t.Errorf("the Guard remembers %d users, and before %d", after, before)
	}
	d.server.viewers.records.mu.Lock()
	defer d.server.viewers.records.mu.Unlock()
	if n := d.server.viewers.records.known.Len(); n < kept || n > 2*kept {
		t.Errorf("%d viewers are remembered", n)
	}
}

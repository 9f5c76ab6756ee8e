//go:build !race

package web

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/waittest"
	"github.com/chatguard/chatguard/internal/web/live"
)

// withLogin adds a bot's login to a dashboard.
func withLogin(f *fakeLogin) func(*Options) { return func(o *Options) { o.Login = f } }

func TestLogin_Begin(t *testing.T) {
	f := &fakeLogin{login: Login{
		State: LoginWaiting, UserCode: "ABCD", Address: "https://www.twitch.tv/activate", Expires: time.Now(), QR: &QR{Size: 3, Path: "M0 0h1v1h-1z"},
	}}
	d := dash(t, withLogin(f))
	begun := decode[Login](t, d.do("POST", "/api/v1/login", map[string]string{"client_id": "abcde"}, asOwner))
	if begun.UserCode != "ABCD" || begun.QR.Size != 3 || f.clientID != "abcde" || f.author != "owner" {
		t.Errorf("answered %+v, began with %q by %q", begun, f.clientID, f.author)
	}
	if again := decode[Login](t, d.do("GET", "/api/v1/login", nil, asOwner)); again.State != LoginWaiting {
		t.Errorf("then it is %+v", again)
	}
	if a := d.do("DELETE", "/api/v1/login", nil, asOwner); a.StatusCode != http.StatusNoContent || f.canceled != 1 {
		t.Errorf("canceled: %s, %d times", a.Status, f.canceled)
	}
}

func TestLogin_Refusals(t *testing.T) {
	for _, test := range []struct {
		err    error
		body   any
		status int
		says   string
	}{
		{ErrLoginRuns, nil, http.StatusConflict, "Finish it, or cancel it first"},
		{&LoginError{Text: "Enter the client ID.", ClientID: true}, nil, http.StatusUnprocessableEntity, "Enter the client ID."},
		{&LoginError{Text: "Twitch does not answer.", Cause: errors.New("secret reason")}, nil, http.StatusServiceUnavailable, "Twitch does not answer."},
		{errors.New("secret reason"), nil, http.StatusInternalServerError, "Something went wrong"},
		{nil, map[string]string{"client_id": strings.Repeat("a", 101)}, http.StatusUnprocessableEntity, "at most 100 characters"},
		{nil, map[string]string{"token": "x"}, http.StatusBadRequest, "unknown field"},
	} {
		d := dash(t, withLogin(&fakeLogin{err: test.err}))
		a := d.do("POST", "/api/v1/login", test.body, asOwner)
		if a.StatusCode != test.status || !strings.Contains(string(a.body), test.says) || strings.Contains(string(a.body), "secret") {
			t.Errorf("%v, %v: %s: %s", test.err, test.body, a.Status, a.body)
		}
	}
}

// A page asks for what this program lacks, such as a bot, and is refused each time. The log doesn't
// report that.
func TestRoutes_NotImplemented(t *testing.T) {
	var logged waittest.Output
	d := dash(t, func(o *Options) { o.Live.Log = slog.New(slog.NewTextHandler(&logged, nil)) })
	for _, path := range []string{"/api/v1/login", "/api/v1/setup", "/api/v1/webhooks", policyPath + "/export"} {
		d.wantStatus(path, http.StatusNotImplemented, "GET", path, nil, asOwner)
	}
	if strings.Contains(logged.String(), "request refused") {
		t.Errorf("logged: %s", logged.String())
	}
}

// stepStates returns the states of the steps, in order.
func (s channelSetup) stepStates() string {
	var states []string
	for _, one := range s.Steps {
		states = append(states, string(one.Name)+" "+string(one.State))
	}
	return strings.Join(states, ", ")
}

func TestSetup_Steps(t *testing.T) {
	bot := BotSetup{Token: live.Missing, Moderator: ModeratorUnknown, Since: time.Now().UTC()}
	d := dash(t, func(o *Options) {
		o.Setup = func(id string) (BotSetup, bool) { return bot, id == channelID }
	})
	want := func(states string, done bool) {
		t.Helper()
		got := decode[channelSetup](t, d.do("GET", "/api/v1/setup", nil, d.as(auth.Moderate)))
		if got.stepStates() != states || got.Done != done {
			t.Errorf("got %s, done %v; want %s", got.stepStates(), got.Done, states)
		}
	}
	setMode := func(mode chatguard.Mode) {
		p := d.guard.Policy()
		p.Mode = mode
		if err := inner.At(d.guard, d.now()).SetPolicy(p); err != nil {
			t.Fatal(err)
		}
	}
	setMode(chatguard.ModeObserve)
	want("connect todo, moderator todo, watch running, enforce todo", false)
	bot.Token, bot.Account = live.Unchecked, "guard"
	want("connect running, moderator todo, watch running, enforce todo", false)
	bot.Token = live.Refused
	want("connect failed, moderator todo, watch running, enforce todo", false)
	bot.Token = live.Valid
	want("connect done, moderator running, watch running, enforce todo", false)
	bot.Moderator = ModeratorNo
	want("connect done, moderator todo, watch running, enforce todo", false)
	bot.Moderator = ModeratorYes
	d.say(spammer, enoughSeen)
	want("connect done, moderator done, watch done, enforce todo", false)
	setMode(chatguard.ModeEnforce)
	want("connect done, moderator done, watch done, enforce done", true)
	if got := decode[channelSetup](t, d.do("GET", "/api/v1/setup", nil, asOwner)); got.Messages != enoughSeen || got.Observed != enoughSeen-3 {
		t.Errorf("saw %+v", got.Seen)
	}
}

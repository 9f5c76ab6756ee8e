package token

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
	"github.com/chatguard/chatguard/internal/clock"
)

// deviceLogin returns a login at a fake Twitch. meanwhile is called before each poll, with the
// number of earlier polls.
func deviceLogin(t *testing.T, meanwhile func(srv *faketwitch.Server, poll int)) (*DeviceLogin, *faketwitch.Server, *twitchtest.Sleeps) {
	t.Helper()
	sleeps := twitchtest.NewSleeps()
	srv := twitchtest.StartWith(t, faketwitch.Options{Now: sleeps.Now})
	d := &DeviceLogin{Application: Application{AuthURL: srv.AuthURL(), ClientID: srv.ClientID(), Clock: clock.Clock{NowFunc: sleeps.Now}}}
	d.Clock.SleepFunc = func(ctx context.Context, length time.Duration) error {
		if meanwhile != nil {
			meanwhile(srv, len(sleeps.All()))
		}
		return sleeps.Sleep(ctx, length)
	}
	return d, srv, sleeps
}

// begin begins a login and fails the test if that fails.
func begin(t *testing.T, d *DeviceLogin) DeviceCode {
	t.Helper()
	code, err := d.Begin(t.Context())
	must(t, err)
	return code
}

// TestDeviceLogin checks that the login polls every 5 s, despite errors in between. Twitch has two
// answers for a code that nobody has entered yet; after both, the login keeps polling. The token
// has all scopes.
func TestDeviceLogin(t *testing.T) {
	d, srv, sleeps := deviceLogin(t, func(srv *faketwitch.Server, poll int) {
		switch poll {
		case 2:
			srv.CallPendingInvalid(true)
		case 4:
			srv.FailNextAuth(faketwitch.Fault{Status: 500}, faketwitch.Fault{}, faketwitch.Fault{Status: 429})
		case 10:
			code, _ := srv.WaitLogin(t.Context())
			srv.Approve(code)
		}
	})
	code := begin(t, d)
	if code.UserCode == "" || !strings.Contains(code.Address, code.UserCode) || !code.Expires.Equal(sleeps.Now().Add(30*time.Minute)) {
		t.Errorf("%+v", code)
	}
	pair, err := d.Wait(t.Context(), code)
	if err != nil || pair.ClientID != srv.ClientID() || pair.Refresh == "" || !pair.Expires.Equal(sleeps.Now().Add(4*time.Hour)) {
		t.Fatalf("%v, until %s", err, pair.Expires)
	}
	if want := slices.Repeat([]time.Duration{5 * time.Second}, 11); !slices.Equal(sleeps.All(), want) {
		t.Errorf("waited %v", sleeps.All())
	}
	id, err := d.server().validate(t.Context(), pair.Access)
	if err != nil || len(MissingScopes("", id.Scopes)) > 0 || id.Login != srv.BotLogin() {
		t.Errorf("%+v, %v", id, err)
	}
}

func TestDeviceLogin_Failed(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(*faketwitch.Server, int)
		want      error
		polls     int
	}{
		"nobody came": {nil, ErrCodeExpired, 30 * 60 / 5},
		"nobody came, and Twitch calls it invalid": {func(srv *faketwitch.Server, _ int) { srv.CallPendingInvalid(true) }, ErrCodeExpired, 30 * 60 / 5},
		"nobody there": {func(srv *faketwitch.Server, _ int) { srv.FailAuth(&faketwitch.Fault{}) }, ErrCodeExpired, 30 * 60 / 5},
		"denied": {func(srv *faketwitch.Server, poll int) {
			if poll == 3 {
				code, _ := srv.WaitLogin(t.Context())
				srv.Deny(code)
			}
		}, ErrDenied, 4},
		"refused": {func(srv *faketwitch.Server, _ int) {
			srv.FailNextAuth(faketwitch.Fault{Status: 400, Message: "invalid client"})
		}, twitch.ErrRejected, 1},
	} {
		d, _, sleeps := deviceLogin(t, c.meanwhile)
		if pair, err := d.Wait(t.Context(), begin(t, d)); !errors.Is(err, c.want) || pair != (Pair{}) || len(sleeps.All()) != c.polls {
			t.Errorf("%s: %v after %d polls, want %v after %d", name, err, len(sleeps.All()), c.want, c.polls)
		}
	}
}

func TestDeviceLogin_Stopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	d, _, sleeps := deviceLogin(t, func(_ *faketwitch.Server, poll int) {
		if poll == 2 {
			stop()
		}
	})
	if _, err := d.Wait(ctx, begin(t, d)); !errors.Is(err, context.Canceled) || len(sleeps.All()) != 3 {
		t.Errorf("%v after %d polls", err, len(sleeps.All()))
	}
}

func TestDeviceLogin_BeginFails(t *testing.T) {
	d, srv, _ := deviceLogin(t, nil)
	d.ClientID = "another"
	if _, err := d.Begin(t.Context()); !errors.Is(err, ErrClientID) {
		t.Errorf("an unknown application: %v", err)
	}
	srv.FailAuth(&faketwitch.Fault{Status: 503})
	if _, err := d.Begin(t.Context()); !errors.Is(err, twitch.ErrUnavailable) {
		t.Errorf("Twitch in trouble: %v", err)
	}
}

// TestDeviceLogin_BoundsAnswer checks the bounds on Twitch's answer. The bounds matter because the
// answer is shown in a terminal, and sets the polling interval and duration.
func TestDeviceLogin_BoundsAnswer(t *testing.T) {
	var answer string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) }))
	defer srv.Close()
	sleeps := twitchtest.NewSleeps()
	d := &DeviceLogin{Application: Application{AuthURL: srv.URL, ClientID: "id", Clock: clock.Clock{NowFunc: sleeps.Now}}}
	for name, c := range map[string]struct {
		answer   string
		life     time.Duration
		interval time.Duration
	}{
		"as told":   {`"expires_in":60,"interval":7`, time.Minute, 7 * time.Second},
		"nothing":   {`"x":1`, 30 * time.Minute, 5 * time.Second},
		"too long":  {`"expires_in":99999999999,"interval":99999999999`, 30 * time.Minute, time.Minute},
		"too short": {`"expires_in":-1,"interval":-1`, 30 * time.Minute, 5 * time.Second},
	} {
		answer = `{"device_code":"d","user_code":"A\u001b[2JB","verification_uri":"https://x.test/a",` + c.answer + `}`
		code := begin(t, d)
		if code.Expires.Sub(sleeps.Now()) != c.life || code.Interval != c.interval || strings.ContainsRune(code.UserCode, 0x1b) {
			t.Errorf("%s: %+v", name, code)
		}
	}
	for _, answer = range []string{"", "{}", `{"device_code":"d","user_code":"u","verification_uri":"nowhere"}`} {
		if code, err := d.Begin(t.Context()); !errors.Is(err, twitch.ErrRejected) {
			t.Errorf("%s: %+v, %v", answer, code, err)
		}
	}
}

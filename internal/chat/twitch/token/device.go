package token

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/api"
	"github.com/chatguard/chatguard/internal/hostile"
)

// Errors that a device code login can return.
var (
	// ErrClientID means that Twitch knows no application with this ID.
	ErrClientID = errors.New("Twitch knows no application with this client ID; copy it from dev.twitch.tv/console into twitch.client_id")

	// ErrDenied means that the person at the browser denied the login.
	ErrDenied = errors.New("the login was denied in the browser; run `chatguard login` to try again")

	// ErrCodeExpired means that nobody entered the code in time.
	ErrCodeExpired = errors.New("nobody entered the code in time; run `chatguard login` to get another one")
)

// DeviceLogin obtains a pair of tokens for the account that somebody signs in to with a browser, on
// any device. Set its fields, then call Begin and Wait.
type DeviceLogin struct {
	// Application needs no Secret. If its HTTP is nil, the login uses a separate client with
	// timeouts that follows no redirects.
	Application
	// Scopes are what the account grants. Nil means everything that the bot may need.
	Scopes []string
}

// DeviceCode is a login in progress.
type DeviceCode struct {
	UserCode string        // shown to the user to compare in the browser
	Address  string        // page to open in the browser
	Expires  time.Time     // when the code expires
	Interval time.Duration // time between two polls

	// code is the device code, as secret as a token.
	code string
}

// Lifetime of a code and polling interval if Twitch sends no usable values.
const (
	deviceLife        = 30 * time.Minute
	deviceInterval    = 5 * time.Second
	deviceIntervalMax = time.Minute
)

// Begin asks Twitch for a code. A person who enters it in a browser grants the Scopes.
// ErrClientID means that Twitch doesn't know the application.
func (d *DeviceLogin) Begin(ctx context.Context) (DeviceCode, error) {
	s := d.server()
	r := api.Request{Op: "begin the login", URL: s.base() + "/device"}
	a, err := s.ask(ctx, r, url.Values{"client_id": {d.ClientID}, "scopes": {d.scopes()}})
	switch {
	case err != nil:
		return DeviceCode{}, err
	case a.Status == http.StatusBadRequest && bytes.Contains(a.Body, []byte("invalid client")):
		return DeviceCode{}, r.Refused(ErrClientID, a)
	case !a.OK():
		return DeviceCode{}, r.Refused(twitch.ErrRejected, a)
	}
	var told struct {
		DeviceCode string `json:"device_code"`
		UserCode   string `json:"user_code"`
		Address    string `json:"verification_uri"`
		ExpiresIn  int64  `json:"expires_in"`
		Interval   int64  `json:"interval"`
	}
	if err := r.Decode(a, &told); err != nil {
		return DeviceCode{}, err
	}
	if address, err := url.Parse(told.Address); err != nil || address.Host == "" || told.DeviceCode == "" || told.UserCode == "" {
		return DeviceCode{}, fmt.Errorf("%s: %w (its answer contains no code)", r.Op, twitch.ErrRejected)
	}
	code := DeviceCode{UserCode: hostile.Detail(told.UserCode), Address: hostile.Detail(told.Address), Interval: deviceInterval, code: told.DeviceCode}
	life := deviceLife
	if told.ExpiresIn > 0 && told.ExpiresIn < int64(deviceLife/time.Second) {
		life = time.Duration(told.ExpiresIn) * time.Second
	}
	code.Expires = s.nowPlus(life)
	if told.Interval > 0 {
		code.Interval = time.Duration(min(told.Interval, int64(deviceIntervalMax/time.Second))) * time.Second
	}
	return code, nil
}

// Wait polls Twitch every interval until somebody has entered the code. It returns ErrDenied or
// ErrCodeExpired if the login failed. If Twitch can't be reached, Wait keeps polling.
func (d *DeviceLogin) Wait(ctx context.Context, code DeviceCode) (Pair, error) {
	server := d.server()
	defer server.client.CloseIdleConnections()
	for {
		if err := d.Clock.Sleep(ctx, code.Interval); err != nil {
			return Pair{}, err
		}
		pair, pending, err := d.poll(ctx, server, code)
		switch {
		case ctx.Err() != nil:
			return Pair{}, ctx.Err()
		case !pending:
			return pair, err
		case !server.now().Before(code.Expires):
			return Pair{}, ErrCodeExpired
		}
	}
}

// Poll asks Twitch once whether somebody has entered the code. Call it at most once per Interval.
// pending is true if a later call can succeed. If it is false, p and err are those of Wait.
func (d *DeviceLogin) Poll(ctx context.Context, code DeviceCode) (p Pair, pending bool, err error) {
	server := d.server()
	if !server.now().Before(code.Expires) {
		return Pair{}, false, ErrCodeExpired
	}
	return d.poll(ctx, server, code)
}

// poll asks Twitch once. pending is true if another try can help. It is also true if Twitch says
// that the code is invalid, because Twitch has said so about codes that nobody had entered yet.
func (d *DeviceLogin) poll(ctx context.Context, s authServer, code DeviceCode) (p Pair, pending bool, err error) {
	r := api.Request{Op: "log in", URL: s.base() + "/token"}
	a, err := s.ask(ctx, r, url.Values{
		"client_id": {d.ClientID}, "scopes": {d.scopes()}, "device_code": {code.code},
		"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"},
	})
	says := func(words string) bool { return bytes.Contains(a.Body, []byte(words)) }
	switch {
	case err != nil:
		return Pair{}, api.IsTemporary(err), err
	case a.OK():
		p, err = s.pair(r, a, d.ClientID)
		return p, false, err
	case says("authorization_pending"), says("invalid device code"):
		return Pair{}, true, nil
	case says("access_denied"):
		return Pair{}, false, ErrDenied
	case says("expired_token"):
		return Pair{}, false, ErrCodeExpired
	}
	return Pair{}, false, r.Refused(twitch.ErrRejected, a)
}

// scopes returns the wanted scopes in the form of a request.
func (d *DeviceLogin) scopes() string {
	if d.Scopes == nil {
		return strings.Join(ScopeNames(), " ")
	}
	return strings.Join(d.Scopes, " ")
}

func (d *DeviceLogin) server() authServer {
	s := d.Application.server()
	if s.client == nil {
		s.client = api.NewClient()
	}
	return s
}

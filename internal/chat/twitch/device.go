package twitch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// What a login by device code can end with.
var (
	// ErrClientID: Twitch knows no application with this ID.
	ErrClientID = errors.New("Twitch knows no application with this client ID; copy it from dev.twitch.tv/console into twitch.client_id")

	// ErrDenied: the person at the browser said no.
	ErrDenied = errors.New("the login was denied in the browser; run `chatguard login` to try again")

	// ErrCodeExpired: nobody entered the code in time.
	ErrCodeExpired = errors.New("nobody entered the code in time; run `chatguard login` to get another one")
)

// DeviceLogin gets a pair of tokens for the account that somebody signs in with in a browser, on any device. Fill its fields, then call Begin and Wait.
type DeviceLogin struct {
	AuthURL  string           // of the identity server; empty means Twitch's
	ClientID string           // of the application; required
	HTTP     *http.Client     // nil means one of its own, with timeouts, that follows no redirects
	Now      func() time.Time // nil means time.Now

	sleep func(context.Context, time.Duration) error // nil means pause
}

// DeviceCode is a login that has begun.
type DeviceCode struct {
	UserCode string        // for the person, who compares it with what the browser shows
	Address  string        // where to go with the browser
	Expires  time.Time     // after which nobody can enter it any more
	Interval time.Duration // between two questions whether somebody has

	code string // for the program; as secret as a token
}

// How long a code lives and how often to ask about it, where Twitch says nothing sensible.
const (
	deviceLife        = 30 * time.Minute
	deviceInterval    = 5 * time.Second
	deviceIntervalMax = time.Minute
)

// Begin asks Twitch for a code that somebody can enter in a browser to give the bot all Scopes. ErrClientID is for an application that Twitch doesn't
// know.
func (d *DeviceLogin) Begin(ctx context.Context) (DeviceCode, error) {
	s := d.server()
	r := request{op: "begin the login", url: s.base() + "/device"}
	a, err := s.ask(ctx, r, url.Values{"client_id": {d.ClientID}, "scopes": {strings.Join(ScopeNames(), " ")}})
	switch {
	case err != nil:
		return DeviceCode{}, err
	case a.status == http.StatusBadRequest && bytes.Contains(a.body, []byte("invalid client")):
		return DeviceCode{}, r.refused(ErrClientID, a)
	case !a.ok():
		return DeviceCode{}, r.refused(ErrRejected, a)
	}
	var told struct {
		DeviceCode string `json:"device_code"`
		UserCode   string `json:"user_code"`
		Address    string `json:"verification_uri"`
		ExpiresIn  int64  `json:"expires_in"`
		Interval   int64  `json:"interval"`
	}
	if err := r.decode(a, &told); err != nil {
		return DeviceCode{}, err
	}
	if address, err := url.Parse(told.Address); err != nil || address.Host == "" || told.DeviceCode == "" || told.UserCode == "" {
		return DeviceCode{}, fmt.Errorf("%s: %w (its answer holds no code)", r.op, ErrRejected)
	}
	code := DeviceCode{UserCode: oneLine(told.UserCode), Address: oneLine(told.Address), Interval: deviceInterval, code: told.DeviceCode}
	life := deviceLife
	if told.ExpiresIn > 0 && told.ExpiresIn < int64(deviceLife/time.Second) {
		life = time.Duration(told.ExpiresIn) * time.Second
	}
	code.Expires = s.after(life)
	if told.Interval > 0 {
		code.Interval = time.Duration(min(told.Interval, int64(deviceIntervalMax/time.Second))) * time.Second
	}
	return code, nil
}

// Wait asks Twitch every interval until somebody has entered the code. ErrDenied and ErrCodeExpired are for a login that comes to nothing; trouble on
// the way to Twitch isn't, it is waited out.
func (d *DeviceLogin) Wait(ctx context.Context, code DeviceCode) (Pair, error) {
	s := d.server()
	defer s.client.CloseIdleConnections()
	for {
		if err := d.pause(ctx, code.Interval); err != nil {
			return Pair{}, err
		}
		pair, pending, err := d.poll(ctx, s, code)
		switch {
		case ctx.Err() != nil:
			return Pair{}, ctx.Err()
		case !pending:
			return pair, err
		case !s.now().Before(code.Expires):
			return Pair{}, ErrCodeExpired
		}
	}
}

// poll asks once. Pending is where asking again can help; it is also taken for that when Twitch calls the code invalid, as it has been seen to do of one
// that nobody has entered yet.
func (d *DeviceLogin) poll(ctx context.Context, s authServer, code DeviceCode) (p Pair, pending bool, err error) {
	r := request{op: "log in", url: s.base() + "/token"}
	a, err := s.ask(ctx, r, url.Values{
		"client_id": {d.ClientID}, "scopes": {strings.Join(ScopeNames(), " ")}, "device_code": {code.code},
		"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"},
	})
	says := func(words string) bool { return bytes.Contains(a.body, []byte(words)) }
	switch {
	case err != nil:
		return Pair{}, passes(err), err
	case a.ok():
		p, err = s.pair(r, a, d.ClientID)
		return p, false, err
	case says("authorization_pending"), says("invalid device code"):
		return Pair{}, true, nil
	case says("access_denied"):
		return Pair{}, false, ErrDenied
	case says("expired_token"):
		return Pair{}, false, ErrCodeExpired
	}
	return Pair{}, false, r.refused(ErrRejected, a)
}

func (d *DeviceLogin) server() authServer {
	s := authServer{url: d.AuthURL, client: d.HTTP, now: d.Now}
	if s.client == nil {
		s.client = newClient()
	}
	if s.now == nil {
		s.now = time.Now
	}
	return s
}

func (d *DeviceLogin) pause(ctx context.Context, length time.Duration) error {
	if d.sleep == nil {
		return pause(ctx, length)
	}
	return d.sleep(ctx, length)
}

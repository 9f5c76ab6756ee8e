package doctor

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/systemd"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/twitchsignin"
)

// checkDashboard checks whether the dashboard's address is free, or in use by the dashboard itself.
func (d *Doctor) checkDashboard(ctx context.Context) []Finding {
	list := []Finding{d.checkAddress(ctx)}
	if app.UntrustedProxy(d.cfg.Web) {
		list = append(list, problem(app.UntrustedProxyFix, "%s", app.UntrustedProxyProblem))
	}
	return append(list, d.checkSignIn()...)
}

// checkSignIn checks whether people and viewers can sign in with Twitch, if that is switched on.
func (d *Doctor) checkSignIn() (list []Finding) {
	if d.cfg.Web.TwitchSignIn {
		list = append(list, d.signInFinding("people", "nobody", app.SignInObstacle(d.cfg)))
	}
	if d.cfg.Web.ViewerPage {
		list = append(list, d.signInFinding("viewers", "no viewer", app.ViewerObstacle(d.cfg)))
	}
	return list
}

// signInFinding says who can sign in with Twitch. It begins with who if they can, or with nobody if
// they can't.
func (d *Doctor) signInFinding(who, nobody string, obstacle *twitchsignin.Obstacle) Finding {
	redirect := app.SignInRedirect(d.cfg)
	switch {
	case obstacle != nil && d.isElsewhere() && d.cfg.Twitch.ClientSecret == "":
		return noteFinding("the sign-in with Twitch isn't checked: chatguard may have a client secret from another environment")
	case obstacle != nil:
		return problem(obstacle.Fix, "%s can sign in with Twitch: %s", nobody, obstacle.Problem)
	case redirect == "":
		return okFinding("%s sign in with Twitch by a code, at this machine only", who)
	}
	return okFinding("%s sign in with Twitch; %s must be an OAuth Redirect URL of your Twitch application", who, redirect)
}

func (d *Doctor) checkAddress(ctx context.Context) Finding {
	if err := d.cfg.CheckServed(); err != nil && !d.isElsewhere() {
		// A running process may have a password from another environment.
		return problemFrom(err)
	}
	s := app.Site(d.cfg.Web)
	listener, err := s.Open()
	switch {
	case err == nil && d.owner != nil:
		defer listener.Close()
		return okFinding("%s is free, and the process that uses the database listens elsewhere", s.Listen)
	case err == nil:
		defer listener.Close()
		return okFinding("%s is free", s.Listen)
	case !errors.Is(err, access.ErrInUse):
		return problem("set listen, tls_cert and tls_key in [web] to what this machine has", "%v", err)
	case d.owner != nil && answersAsChatguard(ctx, s):
		return okFinding("%s is the dashboard of the running chatguard", s.Listen)
	}
	if unit := systemd.SocketUnit(ctx, s.Listen); unit != "" {
		return okFinding("systemd listens at %s, by %s, and passes that to chatguard's service", s.Listen, unit)
	}
	if d.hidden != nil {
		return noteFinding("%s is in use, perhaps by the chatguard that uses the database: run this as %s", s.Listen, d.hidden.Users())
	}
	return problemFrom(err)
}

// answersAsChatguard reports whether a dashboard listens at the site's address.
func answersAsChatguard(ctx context.Context, s access.Site) bool {
	s.PublicURL = nil // ask the listening address, not the proxy
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Address("")+"healthz", nil)
	if err != nil {
		return false
	}
	// The certificate isn't verified, because nothing secret is sent, and the certificate is for
	// the name that people use.
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	var health struct{ Status string }
	err = json.NewDecoder(io.LimitReader(answer.Body, 1<<10)).Decode(&health)
	return err == nil && health.Status == "ok"
}

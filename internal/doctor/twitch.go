package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/chat/twitch/token"
	"github.com/chatguard/chatguard/internal/config"
)

// clockTolerance is the tolerated difference between this machine's clock and Twitch's.
const clockTolerance = 5 * time.Second

// checkClock compares this machine's clock with Twitch's, because limits use the time at which
// Twitch received a message.
func (d *Doctor) checkClock(ctx context.Context) []Finding {
	off, err := d.clockDifference(ctx)
	switch {
	case err != nil:
		return []Finding{problem(networkFix, "the time can't be read from Twitch: %v", err)}
	case off.Abs() <= clockTolerance:
		return []Finding{okFinding("within %.0f s of Twitch's", clockTolerance.Seconds())}
	}
	than := "behind"
	if off > 0 {
		than = "ahead of"
	}
	return []Finding{problem("set this machine's clock from the network (NTP)", "this machine's clock is %s %s Twitch's", off.Abs().Round(time.Second), than)}
}

// clockDifference returns how far this machine's clock is ahead of Twitch's. Every answer carries
// Twitch's time.
func (d *Doctor) clockDifference(ctx context.Context) (time.Duration, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.cfg.Twitch.HelixURL+"/users", nil)
	if err != nil {
		return 0, err
	}
	client := &http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: d.dial, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	asked := d.Now()
	answer, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	took := d.Now().Sub(asked)
	if err := answer.Body.Close(); err != nil {
		return 0, err
	}
	told, err := http.ParseTime(answer.Header.Get("Date"))
	// Assume that Twitch read its clock halfway through the exchange. Its time is in whole seconds,
	// so add half a second.
	return asked.Add(took / 2).Sub(told.Add(time.Second / 2)), err
}

// checkTokenFile checks the token file. If the file can't be written, the token itself isn't
// checked, because that could renew the token and lose the new one.
func (d *Doctor) checkTokenFile(ctx context.Context) []Finding {
	path := d.tokens.File
	if !app.HasToken(d.cfg) {
		return []Finding{noteFinding("%s doesn't exist yet: `chatguard login` creates it", path)}
	}
	err := d.tokens.CanStore(ctx)
	d.unstorable = err != nil
	if err == nil {
		err = token.CheckFile(path)
	}
	if err != nil {
		return []Finding{problemFrom(err)}
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return []Finding{noteFinding("%s doesn't exist yet: the environment's token goes there", path)}
	}
	return []Finding{okFinding("%s, which nobody else can read", path)}
}

// checkToken checks the token by asking Twitch for its owner.
func (d *Doctor) checkToken(ctx context.Context) []Finding {
	if d.unstorable {
		return []Finding{noteFinding("skipped: fix the token file first")}
	}
	if err := d.askAboutToken(ctx); err != nil {
		return []Finding{problemFrom(err)}
	}
	switch s := d.tokens.Status(); {
	case isKnown(s) && s.State == token.Good:
		return d.useToken(s)
	case s.State == token.Missing:
		if d.cfg.Twitch.Transport == config.TransportEventSub {
			return []Finding{problem("run `chatguard login`", "there is none, and EventSub needs one")}
		}
		if app.Enforces(d.cfg) {
			return []Finding{problem("run `chatguard login`", "there is none: chatguard only observes, although it should enforce")}
		}
		return []Finding{noteFinding("there is none: chatguard only reads until you run `chatguard login`")}
	case s.State == token.Revoked:
		return []Finding{problem("run `chatguard login`", "Twitch no longer accepts it")}
	default:
		return []Finding{problem(networkFix, "it can't be checked with Twitch: %s", cmp.Or(s.Detail, noAnswer))}
	}
}

// askAboutToken runs the Store until it is known whether the token is valid, or until the context
// ends. It returns an error if the token file can't be read.
func (d *Doctor) askAboutToken(ctx context.Context) error {
	asking, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- d.tokens.Run(asking) }()
	for {
		select {
		case err := <-ended:
			stop()
			return err
		case <-d.told:
			if isKnown(d.tokens.Status()) {
				stop()
				return <-ended
			}
		}
	}
}

// isKnown reports whether Twitch's verdict on the token is known. For a valid token, the owner must
// be known as well.
func isKnown(s token.Status) bool {
	return s.State != token.Unknown && (s.State != token.Good || s.Identity.UserID != "")
}

// useToken reports the owner of a valid token, and prepares the checks that use it.
func (d *Doctor) useToken(s token.Status) []Finding {
	d.helix = d.twitch.Helix()
	until := ""
	if !s.ExpiresAt.IsZero() {
		until = ", good until " + s.ExpiresAt.Local().Format("2006-01-02 15:04:05 MST")
	}
	if id := d.cfg.Twitch.ClientID; id != "" && id != s.Identity.ClientID {
		return []Finding{problem("run `chatguard login` again", "that of %s was made for a different application than twitch.client_id", s.Identity.Login)}
	}
	list := []Finding{okFinding("that of %s%s", s.Identity.Login, until)}
	if !s.Renewable {
		list = append(list, noteFinding("it can't be renewed and works until it expires: a token from `chatguard login` renews itself"))
	}
	return list
}

// checkScopes reports the scopes that the token lacks.
func (d *Doctor) checkScopes(context.Context) []Finding {
	if d.helix == nil {
		return skipWithoutToken()
	}
	missing := d.tokens.Status().Missing
	if len(missing) == 0 {
		return []Finding{okFinding("the token has all scopes that are needed")}
	}
	var lacks []string
	for _, s := range token.Scopes {
		if slices.Contains(missing, s.Name) {
			lacks = append(lacks, fmt.Sprintf("%s (%s)", s.Name, s.For))
		}
	}
	return []Finding{problem("run `chatguard login` again", "the token lacks %s", strings.Join(lacks, ", "))}
}

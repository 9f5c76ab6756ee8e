// Package doctor checks everything that chatguard needs with a configuration, on this machine and
// at Twitch. Each problem that it finds comes with a fix.
//
// It knows neither terminals nor commands, and changes nothing except the token.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/chatguard/chatguard/internal/chat/twitch/helix"
	"github.com/chatguard/chatguard/internal/chat/twitch/token"
	"github.com/chatguard/chatguard/internal/chat/twitchbot"
	"github.com/chatguard/chatguard/internal/clock"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
)

// patience is the time limit of each check.
const patience = 5 * time.Second

// Doctor checks everything that chatguard needs with a configuration. It changes nothing except the
// token, which it renews when due, as a running chatguard would. Create one with New.
type Doctor struct {
	Now     func() time.Time // this machine's clock
	Version string           // of chatguard, compared with the other nodes'; empty means that of the module

	// Environment is the service's file with variables that this process doesn't have. Its Path is
	// empty if there is none. The configuration given to New already has the file's values.
	Environment EnvironmentFile

	cfg  config.Config
	dial twitchbot.Dialer
	// owner is the process that owns the database, most likely a running chatguard; nil if there is
	// none.
	owner *sqlite.OwnedError
	// hidden is why this user can't find out whether there is an owner; nil if that is known.
	hidden  *sqlite.HiddenError
	tokens  *token.Store
	twitch  *twitchbot.Connection
	entered chan struct{} // holds a value once a channel has been joined
	told    chan struct{} // holds a value if the token's status has changed

	// unfinished means that the next process to read the database undoes an interrupted write.
	unfinished bool
	unstorable bool // the token can't be stored
	// helix is nil until Twitch has confirmed the token and its owner.
	helix *helix.Client
	// accounts are the accounts of existing channels; nil until Twitch has answered.
	accounts []channel
	// sharedProblems are the problems that checkShared has found, each with its fix.
	sharedProblems []string
}

// New returns a Doctor for a configuration. A nil dial means the machine's network.
func New(cfg config.Config, dial twitchbot.Dialer) *Doctor {
	d := &Doctor{cfg: cfg, Now: time.Now, dial: dial, entered: make(chan struct{}, 1), told: make(chan struct{}, 1)}
	owned := sqlite.CheckOwner(cfg.Database)
	errors.As(owned, &d.hidden)
	if errors.As(owned, &d.owner) {
		// Check the token file's token, because the environment of the running chatguard may
		// differ.
		cfg.Twitch.Token, cfg.Twitch.RefreshToken = "", ""
	}
	quiet := slog.New(slog.DiscardHandler)
	d.tokens = twitchbot.TokensOf(cfg, quiet)
	d.twitch = twitchbot.New(twitchbot.Options{
		Config: cfg.Twitch, Tokens: d.tokens, Log: quiet, ChatTime: clock.NewChat(nil), Dial: dial,
		Entered: func(string, string) { wake(d.entered) },
	})
	d.tokens.Changed = func(token.Status) { wake(d.told) } // only wakes the check that waits for it
	return d
}

// EnvironmentFile is a file from which the service gets environment variables.
type EnvironmentFile struct {
	Path  string
	Names []string // of its variables
	Err   error    // why it can't be read
}

// isElsewhere reports whether chatguard may have other environment variables than the doctor.
func (d *Doctor) isElsewhere() bool { return d.owner != nil || d.Environment.Err != nil }

// wake wakes the check that receives from a Go channel with a buffer. It never blocks.
func wake(to chan<- struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

// check is one item to check.
type check struct {
	name string
	look func(context.Context) []Finding
}

// checks returns the checks in order of dependency. If no Twitch channel is configured, it omits
// the checks about Twitch.
func (d *Doctor) checks() []check {
	here := []check{
		{"configuration", d.checkConfiguration},
		{"memory", d.checkMemory},
		{"environment", d.checkEnvironment},
		{"database", d.checkDatabase},
	}
	if d.cfg.Shared.Mode != config.ShareOff {
		here = append(here, check{"shared store", d.checkShared})
	}
	here = append(here, check{"process", d.checkProcess}, check{"zone", d.checkZones}, check{"dashboard", d.checkDashboard})
	if len(d.cfg.Twitch.Channels) == 0 {
		return here
	}
	return append(here, []check{
		{"clock", d.checkClock},
		{"token file", d.checkTokenFile},
		{"token", d.checkToken},
		{"scopes", d.checkScopes},
		{"channel", d.checkChannels},
		{"moderator", d.checkModerator},
		{"chat", d.checkChat},
	}...)
}

// Run makes all checks. After each check, it reports the findings with the check's name. It returns
// an error if any finding is a problem, if ctx ends first, or if report fails. Call it once.
func (d *Doctor) Run(ctx context.Context, report func(check string, f Finding) error) error {
	defer d.twitch.Close()
	problems := 0
	for _, c := range d.checks() {
		findings := c.run(ctx, patience)
		if ctx.Err() != nil {
			return errors.New("stopped: not everything was checked")
		}
		for _, f := range findings {
			if f.State == Problem {
				problems++
			}
			if err := report(c.name, f); err != nil {
				return err
			}
		}
	}
	switch problems {
	case 0:
		return nil
	case 1:
		return errors.New("1 problem found; the fix is under it")
	}
	return fmt.Errorf("%d problems found; the fix is under each one", problems)
}

// run runs the check for at most the duration limit.
func (c check) run(ctx context.Context, limit time.Duration) []Finding {
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	return c.look(ctx)
}

// skipWithoutToken returns the finding for a check that can't be made without a token.
func skipWithoutToken() []Finding {
	return []Finding{noteFinding("skipped: needs a valid token")}
}

// channelNames formats channels for people: #a, #b.
func channelNames(logins []string) string { return "#" + strings.Join(logins, ", #") }

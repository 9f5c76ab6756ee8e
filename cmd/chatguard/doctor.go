package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/clock"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/persist"
)

func newDoctorCommand() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look at everything that chatguard needs, and say what is wrong and how to mend it",
		Long: `Looks at the configuration, the database, the dashboard's address, this machine's clock and zones, and at Twitch: the
token and what it allows, the channels, where the bot is a moderator, and whether chat can be read. Where the
configuration names no channel of Twitch's, Twitch is left out.

A line each says ok, note or problem; below a problem stands its mend. Works while chatguard runs, and changes nothing
there, but makes and deletes a file beside the database to see whether that can be done. The exit code is 0 without a problem, 1 with any, and 2 where the configuration can't be read.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(path)
			if err != nil {
				return err
			}
			ctx, stop := untilStopped(cmd.Context(), 0)
			defer stop()
			return newDoctor(cfg, nil).run(ctx, cmd.OutOrStdout())
		},
	}
	addConfigFlag(cmd, &path)
	return cmd
}

// doctorPatience is how long each check may take.
const doctorPatience = 5 * time.Second

// doctor looks at what a chatguard with a configuration needs. It changes nothing but the token, which it renews where that is due, as a running
// chatguard would.
type doctor struct {
	cfg     config.Config
	now     func() time.Time
	dial    dialer
	owner   *persist.OwnedError // the process that owns the database, most likely a chatguard that runs; nil for none
	tokens  *twitch.Tokens
	twitch  *twitchConnection
	entered chan struct{} // holds a value once the connection reads a channel

	unstorable bool             // the token can't be kept
	helix      *twitch.Helix    // nil as long as Twitch hasn't said that the token is good, and whose it is
	accounts   []twitch.Account // of the channels that exist; nil as long as Twitch hasn't told
}

// newDoctor returns a doctor for a configuration. A nil dial means the network's.
func newDoctor(cfg config.Config, dial dialer) *doctor {
	d := &doctor{cfg: cfg, now: time.Now, dial: dial, entered: make(chan struct{}, 1)}
	if errors.As(persist.CheckOwner(cfg.Database), &d.owner) {
		cfg.Twitch.Token, cfg.Twitch.RefreshToken = "", "" // its token counts, not that of this environment, which it would take up
	}
	quiet := slog.New(slog.DiscardHandler)
	d.tokens = tokensOf(cfg, quiet)
	d.twitch = newTwitchConnection(cfg.Twitch, d.tokens, quiet, clock.NewChat(nil), dial, func(string, string) {
		select {
		case d.entered <- struct{}{}:
		default:
		}
	})
	return d
}

// check is one thing to look at.
type check struct {
	name string
	look func(context.Context) []finding
}

// checks are in the order in which they build on one another. Without a channel of Twitch's, nothing of Twitch is looked at.
func (d *doctor) checks() []check {
	here := []check{
		{"configuration", d.configuration},
		{"memory", d.memory},
		{"environment", d.environment},
		{"database", d.database},
		{"zone", d.zones},
		{"dashboard", d.dashboard},
	}
	if len(d.cfg.Twitch.Channels) == 0 {
		return here
	}
	return append(here, []check{
		{"clock", d.clock},
		{"token file", d.tokenFile},
		{"token", d.token},
		{"scopes", d.scopes},
		{"channel", d.channels},
		{"moderator", d.moderator},
		{"chat", d.chat},
	}...)
}

// run makes all checks, and writes what they find as soon as they find it. The error is for any problem.
func (d *doctor) run(ctx context.Context, out io.Writer) error {
	defer d.twitch.close()
	problems := 0
	for _, c := range d.checks() {
		findings := c.lookFor(ctx, doctorPatience)
		if ctx.Err() != nil {
			return errors.New("stopped: not everything was looked at")
		}
		for _, f := range findings {
			if f.state == problem {
				problems++
			}
			if err := f.print(out, c.name); err != nil {
				return err
			}
		}
	}
	switch problems {
	case 0:
		return nil
	case 1:
		return errors.New("there is a problem: its mend stands below it")
	}
	return fmt.Errorf("there are %d problems: the mend of each stands below it", problems)
}

func (c check) lookFor(ctx context.Context, patience time.Duration) []finding {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	return c.look(ctx)
}

// needsToken is what a check finds that can't be made without a token.
func needsToken() []finding {
	return []finding{noted("not looked at: Twitch tells it only to who has a good token")}
}

// channelNames names channels for people: #a, #b.
func channelNames(logins []string) string { return "#" + strings.Join(logins, ", #") }

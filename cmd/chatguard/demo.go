package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/demo"
	"github.com/chatguard/chatguard/internal/durations"
	"github.com/chatguard/chatguard/internal/web/access"
)

func newDemoCommand() *cobra.Command {
	var o demoOptions
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Try chatguard on this machine: no account, no setup",
		Long: `Starts a simulated Twitch on this machine with two channels, lets chatguard moderate them, and serves the dashboard. There
are chatters, spammers and raids, and the record of the last day and a half. Nothing leaves this machine, and nothing is
stored. Press Enter for a raid. Ctrl-C ends the demo with a summary.

With --listen 0.0.0.0:8080, as a container needs it, other machines can reach the dashboard, without encryption.
Signing in still needs the link or the token. Other machines can't reach the simulated Twitch, so signing in with Twitch
is turned off.`,
		Example: `  chatguard demo
  chatguard demo --for 30s --seed 7`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := newStopContext(cmd.Context(), time.Duration(o.length))
			defer stop()
			o.anyPort = !cmd.Flags().Changed("listen")
			if o.setup {
				return demoSetup(ctx, o, cmd.OutOrStdout())
			}
			return runDemo(ctx, o, cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	cmd.Flags().Var(&o.length, "for", durationUsage)
	cmd.Flags().StringVar(&o.listen, "listen", config.Default().Web.Listen, "address of the dashboard")
	cmd.Flags().Uint64Var(&o.seed, "seed", 1, "each number gives a different crowd")
	o.raidEvery = duration(5 * time.Minute)
	cmd.Flags().Var(&o.raidEvery, "raid-every", "time between raids, such as 90s or 10m")
	cmd.Flags().BoolVar(&o.setup, "setup", false, "begin with an empty folder: set chatguard up in the browser, and connect a bot")
	cmd.Flags().BoolVar(&o.noBrowser, "no-browser", false, "with --setup: only print the link, and don't open the browser")
	return cmd
}

type demoOptions struct {
	length    duration
	listen    string
	anyPort   bool // use another port if listen's is taken
	seed      uint64
	raidEvery duration

	setup     bool // begin with an empty folder
	noBrowser bool
}

// runDemo runs until the context ends, then prints a summary. Each line of in requests a raid.
// runDemo returns an error if the numbers don't add up.
func runDemo(ctx context.Context, o demoOptions, in io.Reader, out io.Writer) (err error) {
	folder, err := os.MkdirTemp("", "chatguard-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	server, err := faketwitch.Start(faketwitch.Options{Channels: demo.Channels, ClientSecret: demoSecret})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	server.SetModerator(demo.First, demo.Moderator, true)
	c := simulatedConfig(server, folder, o.listen)
	if app.Site(c.Web).IsPrivate() {
		c.Web.TwitchSignIn, c.Web.ViewerPage, c.Twitch.ClientSecret = true, true, demoSecret
	}
	demo.SetChannels(&c)
	crowds, err := demo.MakePast(ctx, server, c, o.seed, time.Now())
	if ctx.Err() != nil {
		return nil // it ended before anything was seen
	}
	if err != nil {
		return err
	}
	a, err := newDemoApp(context.WithoutCancel(ctx), c, o.anyPort)
	if err != nil {
		return err
	}
	defer a.Close()
	server.RegisterRedirect(a.SignInRedirect())
	check := watchRecord(a, server)
	if err := printDemo(context.WithoutCancel(ctx), a, server, o, out); err != nil {
		return err
	}
	go requestRaids(in, crowds[0]) // reading can't be interrupted; it ends with the process
	if err := runWithCrowds(ctx, a, server, crowds, time.Duration(o.raidEvery)); err != nil {
		return err
	}
	return check.sumUp(out, a.Bot.Counts())
}

// demoSecret is the secret of the demo's Twitch application.
const demoSecret = "fake0client0secret"

// printDemo prints how to look at the demo.
func printDemo(ctx context.Context, a *app.App, server *faketwitch.Server, o demoOptions, out io.Writer) error {
	fmt.Fprintf(out, "Two simulated channels, #%s and #%s, are moderated on this machine. Nothing leaves the machine.\n\n", demo.First, demo.Second)
	fmt.Fprintln(out, "Open this in your browser:")
	if err := printLink(ctx, a, out); err != nil {
		return err
	}
	printOpenAddress(app.Site(a.Config.Web), out)
	fmt.Fprintf(out, "\nPress Enter for a raid in #%s; otherwise one comes every %s. Ctrl-C ends the demo.\n", demo.First, durations.Format(time.Duration(o.raidEvery)))
	fmt.Fprintf(out, "To see the algorithms at work, after signing in: %slab\n", a.Address())
	if a.Config.Web.TwitchSignIn {
		fmt.Fprintf(out, "To see what others see: sign out, and sign in with Twitch as %s, its moderator %s or a stranger.\n", demo.First, demo.Moderator)
		fmt.Fprintf(out, "To see what a viewer sees, as any account of the simulated Twitch: %s\n", a.ViewerAddress(demo.First))
	}
	fmt.Fprintf(out, "To sign in again, or to try the API: the token %s\n", string(a.Config.Web.Token))
	_, err := fmt.Fprintf(out, "  curl -H \"Authorization: Bearer %s\" \"%sapi/v1/throttled?channel=%s\"\n",
		string(a.Config.Web.Token), a.Address(), server.UserID(demo.First))
	return err
}

// printOpenAddress prints how to open the link on other machines, if they can reach the site
// without a proxy.
func printOpenAddress(site access.Site, out io.Writer) {
	if site.PublicURL == nil && !site.IsPrivate() {
		fmt.Fprintln(out, "Other machines can reach it without encryption. Write this machine's IP address into the link there.")
	}
}

// raidSize is how many crowds of raiders come at once, so that a raid fills the page.
const raidSize = 4

// requestRaids starts a raid for each line of input.
func requestRaids(in io.Reader, crowd *faketwitch.Crowd) {
	for lines := bufio.NewScanner(in); lines.Scan(); {
		for range raidSize {
			crowd.Raid()
		}
	}
}

// simulatedConfig returns a configuration that connects to the server. With it, chatguard stores
// nothing outside the folder.
func simulatedConfig(server *faketwitch.Server, folder, listen string) config.Config {
	c := config.Default()
	c.Database = filepath.Join(folder, "chatguard.db")
	c.Web.Listen, c.Web.Token = listen, config.Secret(rand.Text())
	c.Web.Insecure = true // there is nothing secret
	c.Twitch.ClientID, c.Twitch.Token = server.ClientID(), config.Secret(server.Token())
	c.Twitch.RefreshToken = config.Secret(server.RefreshToken())
	c.Twitch.IRCAddress, c.Twitch.IRCTLS, c.Twitch.HelixURL, c.Twitch.AuthURL = server.IRCAddress(), false, server.HelixURL(), server.AuthURL()
	return c
}

// newDemoApp is like app.Open, but uses any free port if the default one is taken and anyPort is
// set.
func newDemoApp(ctx context.Context, c config.Config, anyPort bool) (*app.App, error) {
	if err := c.Web.CheckListen(); err != nil {
		return nil, usageError{fmt.Errorf("--listen: %w", err)}
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	a, err := app.Open(ctx, app.Options{Config: c, Log: log, Build: build()})
	switch {
	case !errors.Is(err, access.ErrInUse):
		return a, err
	case !anyPort:
		return nil, fmt.Errorf("--listen: %s %w: name another port", c.Web.Listen, access.ErrInUse)
	}
	c.Web.Listen = "127.0.0.1:0"
	return app.Open(ctx, app.Options{Config: c, Log: log, Build: build()})
}

package main

import (
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

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/web/access"
)

// demoChannel is the channel of the demo's crowd.
const demoChannel = "gardenhour"

// demoSettle is how long the demo waits at the end for the bot to read the crowd's messages.
const demoSettle = 5 * time.Second

func newDemoCommand() *cobra.Command {
	var o demoOptions
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Try chatguard on this machine: no account, no setup",
		Long: `Starts a simulated Twitch on this machine with chatters, spammers and a raid, lets chatguard moderate it, and serves
the dashboard. Nothing leaves this machine, and nothing is stored. Ctrl-C ends it with a summary.`,
		Example: `  chatguard demo
  chatguard demo --for 30s --seed 7`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := newStopContext(cmd.Context(), time.Duration(o.length))
			defer stop()
			o.anyPort = !cmd.Flags().Changed("listen")
			return demo(ctx, o, cmd.OutOrStdout())
		},
	}
	cmd.Flags().Var(&o.length, "for", durationUsage)
	cmd.Flags().StringVar(&o.listen, "listen", config.Default().Web.Listen, "address of the dashboard")
	cmd.Flags().Uint64Var(&o.seed, "seed", 1, "each number gives a different crowd")
	return cmd
}

type demoOptions struct {
	length  duration
	listen  string
	anyPort bool // use another port if listen's is taken
	seed    uint64
}

// demo runs until the context ends, then prints a summary. It returns an error if the numbers don't
// add up.
func demo(ctx context.Context, o demoOptions, out io.Writer) (err error) {
	folder, err := os.MkdirTemp("", "chatguard-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	server, err := faketwitch.Start(faketwitch.Options{Channels: []string{demoChannel}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	a, err := newDemoApp(context.WithoutCancel(ctx), demoConfig(server, folder, o.listen), o.anyPort)
	if err != nil {
		return err
	}
	defer a.Close()
	fmt.Fprintf(out, "A simulated channel, #%s, is moderated on this machine. Nothing leaves the machine.\n", demoChannel)
	if err := printLink(context.WithoutCancel(ctx), a, out); err != nil {
		return err
	}
	fmt.Fprintf(out, "To sign in again, or to try the API: the token %s\n", string(a.Config.Web.Token))
	fmt.Fprintf(out, "  curl -H \"Authorization: Bearer %s\" \"%sapi/v1/throttled?channel=%s\"\n",
		string(a.Config.Web.Token), a.Address(), server.UserID(demoChannel))
	fmt.Fprintln(out, "Ctrl-C ends the demo.")
	crowd := &faketwitch.Crowd{Channel: demoChannel, Seed: o.seed}
	if err := runWithCrowd(ctx, a, server, crowd); err != nil {
		return err
	}
	return sumUp(out, a.Bot.Counts(), server.Deleted())
}

// demoConfig returns a configuration for the server's channel. With it, chatguard stores nothing
// outside the folder.
func demoConfig(server *faketwitch.Server, folder, listen string) config.Config {
	c := config.Default()
	c.Database = filepath.Join(folder, "chatguard.db")
	c.Web.Listen, c.Web.Token = listen, config.Secret(rand.Text())
	c.Twitch.Channels, c.Twitch.ClientID, c.Twitch.Token = []string{demoChannel}, server.ClientID(), config.Secret(server.Token())
	c.Twitch.RefreshToken = config.Secret(server.RefreshToken())
	c.Twitch.IRCAddress, c.Twitch.IRCTLS, c.Twitch.HelixURL, c.Twitch.AuthURL = server.IRCAddress(), false, server.HelixURL(), server.AuthURL()
	c.Policy.Mode = chatguard.Enforce
	c.Policy.Penalties.Ladder = []chatguard.Penalty{{Action: chatguard.Delete}}
	return c
}

// newDemoApp is like app.Open, but uses any free port if the default one is taken and anyPort is
// set.
func newDemoApp(ctx context.Context, c config.Config, anyPort bool) (*app.App, error) {
	if err := c.Web.CheckListen(); err != nil {
		return nil, usageError{fmt.Errorf("--listen: %w", err)}
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	a, err := app.Open(ctx, app.Options{Config: c, Log: log})
	switch {
	case !errors.Is(err, access.ErrInUse):
		return a, err
	case !anyPort:
		return nil, fmt.Errorf("--listen: %s %w: name another port", c.Web.Listen, access.ErrInUse)
	}
	c.Web.Listen = "127.0.0.1:0"
	return app.Open(ctx, app.Options{Config: c, Log: log})
}

// runWithCrowd runs the app with a crowd. It returns after the context has ended and the bot has
// read everything that the crowd said.
func runWithCrowd(ctx context.Context, a *app.App, server *faketwitch.Server, crowd *faketwitch.Crowd) error {
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	ended := make(chan error, 1)
	go func() {
		defer stop() // if the app ends on its own, end the crowd
		ended <- a.Run(running)
	}()
	talking, hush := context.WithCancel(running)
	defer hush()
	context.AfterFunc(ctx, hush)
	err := server.WaitJoined(talking, 1)
	if err == nil {
		err = crowd.Run(talking, server)
		waitForCrowd(running, a.Bot, crowd)
	}
	if talking.Err() != nil && errors.Is(err, talking.Err()) {
		err = nil // it ended before anyone wrote a message
	}
	stop()
	return errors.Join(err, <-ended)
}

// waitForCrowd waits until the bot has judged everything that the crowd said.
func waitForCrowd(ctx context.Context, bot *chat.Bot, crowd *faketwitch.Crowd) {
	ctx, stop := context.WithTimeout(ctx, demoSettle)
	defer stop()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for bot.Counts().Messages < int64(crowd.Sent()) && ctx.Err() == nil {
		select {
		case <-look.C:
		case <-ctx.Done():
		}
	}
}

// sumUp prints the demo's results. It returns an error if the number of throttled messages differs
// from the number of deleted ones.
func sumUp(out io.Writer, c chat.Counts, deletedByTwitch int) error {
	fmt.Fprintf(out, "\nmessages   %6d, of which %d by the broadcaster and moderators, who are exempt\n", c.Messages, c.Exempt)
	fmt.Fprintf(out, "throttled  %6d\n", c.Throttled)
	fmt.Fprintf(out, "deleted    %6d\n", c.Deleted)
	fmt.Fprintf(out, "failed     %6d\n", c.Failed+c.Skipped)
	if c.Throttled != int64(deletedByTwitch) {
		return fmt.Errorf("%d messages were throttled, but the simulated Twitch was asked to delete %d", c.Throttled, deletedByTwitch)
	}
	_, err := fmt.Fprintf(out, "The simulated Twitch's own record agrees: %d deletes, one for each throttled message.\n", deletedByTwitch)
	return err
}

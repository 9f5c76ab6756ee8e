package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/config"
)

// unknownChannel is a channel that the simulated Twitch doesn't have, as if the name was mistyped.
const unknownChannel = "nosuchchannel"

// demoSetup runs a first start with the simulated Twitch. It begins with an empty folder and the
// setup page, and goes on with the dashboard and its checklist. The pages of Twitch are simulated,
// too.
func demoSetup(ctx context.Context, o demoOptions, out io.Writer) (err error) {
	folder, err := os.MkdirTemp("", "chatguard-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	server, err := faketwitch.Start(faketwitch.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	s := newDemoSetup(server, filepath.Join(folder, defaultConfig), o.listen, out)
	s.open = func(link string) bool { return !o.noBrowser && openBrowser(out, link) }
	fmt.Fprintln(out, "A first evening with a simulated Twitch. Nothing leaves this machine, and nothing is kept.")
	a, err := s.run(ctx)
	defer func() { err = errors.Join(err, s.close()) }()
	if err != nil || a == nil {
		return err
	}
	defer a.Close()
	crowd := &faketwitch.Crowd{Channel: a.Config.Twitch.Channels[0], Seed: o.seed, RaidAt: -1}
	return runWithCrowds(ctx, a, server, []*faketwitch.Crowd{crowd}, time.Duration(o.raidEvery))
}

// newDemoSetup returns a setup that uses server as Twitch. The chosen channel exists there as soon
// as it is in the configuration, unless it is unknownChannel; the bot is no moderator yet.
func newDemoSetup(server *faketwitch.Server, path, listen string, out io.Writer) *setup {
	s := &setup{
		path: path, web: config.Default().Web, out: out,
		log:   slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
		pages: app.Pages{Console: server.SiteURL() + "/console/apps/create", Chat: server.SiteURL() + "/popout/"},
	}
	s.web.Listen = listen
	s.load = func() (config.Config, error) {
		c, err := config.Load(path, nil)
		if err != nil {
			return c, err
		}
		c.Twitch.IRCAddress, c.Twitch.IRCTLS, c.Twitch.HelixURL, c.Twitch.AuthURL = server.IRCAddress(), false, server.HelixURL(), server.AuthURL()
		if channel := c.Twitch.Channels[0]; channel != unknownChannel {
			server.AddChannel(channel)
			server.SetBotModerator(channel, false)
		}
		return c, nil
	}
	return s
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/persist/signin"
	"github.com/chatguard/chatguard/internal/request"
	"github.com/chatguard/chatguard/internal/web"
	"github.com/chatguard/chatguard/internal/web/access"
)

// setup is the first start: a person answers a few questions in a browser, and chatguard goes on
// with the configuration that results.
type setup struct {
	path string                        // where the configuration will be
	web  config.Web                    // where the setup page and then the dashboard listen
	load func() (config.Config, error) // reads the new configuration
	log  *slog.Logger
	// level is that of log; a reload sets it. It may be nil.
	level *slog.LevelVar
	out   io.Writer
	// pages are those of Twitch; empty fields mean the real ones.
	pages app.Pages
	open  func(link string) bool // opens the browser, and reports whether it tried

	listener interruptible
	moved    bool     // it listens at another port than configured, because that one is taken
	app      *app.App // nil until there is a configuration
}

// errNoSetup means that the setup page can't be served safely at the configured address.
var errNoSetup = errors.New("the setup page is for this machine only: answer in the terminal with `chatguard init`, or listen on loopback")

// run serves the setup page until the configuration exists, and then returns the App, which the
// caller runs and closes. It returns nil if the context has ended before that. In the end, the
// caller calls close.
func (s *setup) run(ctx context.Context) (*app.App, error) {
	site := app.Site(s.web)
	if !site.IsPrivate() {
		return nil, errNoSetup
	}
	if err := s.listen(site); err != nil {
		return nil, err
	}
	store, err := persist.OpenMemory(ctx, &persist.Options{Logger: s.log})
	if err != nil {
		return nil, err
	}
	defer store.Close()
	first, err := web.NewFirstRun(web.FirstRunOptions{
		Site: site, Sessions: store.Tokens, WrongCode: signin.ErrCode, Create: s.create, Console: s.pages.Real().Console, Log: s.log,
	})
	if err != nil {
		return nil, err
	}
	code, err := store.Tokens.NewSignInCode(ctx, auth.Identity{Name: auth.OwnerName, Access: auth.Own}, 0)
	if err != nil {
		return nil, err
	}
	if err := s.announce(site.Link(s.listener.Addr().String(), code)); err != nil {
		return nil, err
	}
	err = first.Run(ctx, lend(s.listener)) // sets s.app
	return s.app, err
}

// listen opens the listener. If the address is taken, it uses another port of this machine.
func (s *setup) listen(site access.Site) error {
	listener, err := site.Open()
	if errors.Is(err, access.ErrInUse) {
		host, _, _ := net.SplitHostPort(site.Listen)
		site.Listen, s.moved = net.JoinHostPort(host, "0"), true
		listener, err = site.Open()
	}
	if err != nil {
		return err
	}
	s.listener = listener.(interruptible) // without TLS it always is
	return nil
}

// announce prints the link, and opens it in the browser.
func (s *setup) announce(link string) error {
	what := "Open this in your browser to set chatguard up:"
	if s.open(link) {
		what = "Set chatguard up in your browser. If it hasn't opened, go to"
	}
	_, err := fmt.Fprintf(s.out, "%s\n\n    %s\n\n(the link works once, within %.0f minutes; `chatguard init` asks here instead; Ctrl-C ends this)\n",
		what, link, signin.SignInTime.Minutes())
	return err
}

// create writes the configuration and opens the App. If that fails, no configuration is left, so
// that the person can correct the answers.
func (s *setup) create(ctx context.Context, a web.Answers) (code string, err error) {
	starter := config.Starter{Channel: a.Channel, Timezone: a.Timezone, ClientID: a.ClientID}
	if s.moved {
		starter.Listen = s.listener.Addr().String()
	}
	contents, err := starter.Write()
	if err != nil {
		return "", &web.AnswerError{Text: journal.Sentence(err)}
	}
	if err := writeNew(s.path, contents); err != nil {
		return "", &web.AnswerError{Text: err.Error()}
	}
	if code, err = s.start(context.WithoutCancel(ctx)); err != nil {
		return "", &web.AnswerError{Text: errors.Join(err, os.Remove(s.path)).Error()}
	}
	return code, nil
}

// start opens the App with the new configuration, and returns a code that signs in there.
func (s *setup) start(ctx context.Context) (code string, err error) {
	cfg, err := s.load()
	if err != nil {
		return "", err
	}
	a, err := app.Open(ctx, app.Options{Config: cfg, Log: s.log, Level: s.level, Build: build(), Listener: lend(s.listener), Pages: s.pages})
	if err != nil {
		return "", err
	}
	if code, err = a.SignInCode(ctx); err != nil {
		a.Close()
		return "", err
	}
	s.app = a
	fmt.Fprintf(s.out, "Wrote %s. chatguard runs; Ctrl-C ends it.\n", s.path)
	return code, nil
}

// close closes the listener.
func (s *setup) close() error {
	if s.listener == nil {
		return nil
	}
	return s.listener.Close()
}

// setUp sets chatguard up in the browser, and runs it.
func setUp(cmd *cobra.Command, o runOptions) (err error) {
	before, err := config.Parse(defaultConfig, nil, os.LookupEnv)
	if err != nil {
		return err
	}
	load := func() (config.Config, error) { return loadConfig(defaultConfig) }
	out := cmd.OutOrStdout()
	log, level := newLog(before.Log)
	s := &setup{
		path: defaultConfig, web: before.Web, load: load, log: log, level: level, out: out,
		open: func(link string) bool { return o.browser && openBrowser(out, link) },
	}
	ctx, stop := newStopContext(cmd.Context(), 0)
	defer stop()
	a, err := s.run(ctx)
	defer func() { err = errors.Join(err, s.close()) }()
	if err != nil || a == nil {
		return err
	}
	defer a.Close()
	notified, ignore := request.Notifications()
	defer ignore()
	return serve(ctx, a, notified, load)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"
	"golang.org/x/sync/errgroup"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/clock"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/web"
)

// owner is who the printed sign-in link signs in.
const owner = "owner"

// app is the whole bot, wired: Twitch → bot, and servers → dashboard, → Guard → store and dashboard.
type app struct {
	config   config.Config                 // as at the start
	policies atomic.Pointer[config.Config] // the policies of the configuration, as last loaded
	log      *slog.Logger
	metrics  *metrics.Set
	store    *persist.Store
	guard    *chatguard.Guard
	twitch   *twitchConnection
	controls *control.Controls
	bot      *chat.Bot
	web      *web.Server
	listener net.Listener
	logins   logins
	settings map[string]map[string]string // what the store keeps of channels, as at the start
	changed  atomic.Pointer[revisions]    // by which moderators have changed policies, as when these were last loaded
	leftOut  leftOut                      // of these, those that can't be used
}

// network is how an app reaches Twitch and is reached by browsers. The zero value is the machine's own.
type network struct {
	dial     dialer
	listener net.Listener // of the dashboard; nil listens where the configuration says
}

// newApp opens the database, takes back what it holds, and listens. Close the app when done.
func newApp(ctx context.Context, cfg config.Config, log *slog.Logger) (*app, error) {
	return newAppOn(ctx, network{}, cfg, log)
}

// newAppOn is newApp on a network.
func newAppOn(ctx context.Context, n network, cfg config.Config, log *slog.Logger) (*app, error) {
	a := &app{config: cfg, log: log, metrics: metrics.NewSet(), listener: n.listener}
	a.policies.Store(&cfg)
	if err := a.open(ctx, n.dial); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

func (a *app) open(ctx context.Context, dial dialer) (err error) {
	s := site(a.config.Web)
	s.Log = a.log
	if a.listener == nil {
		if a.listener, err = s.Open(); err != nil {
			return err
		}
	}
	a.warnOf(a.config)
	a.twitch = withoutTwitch(a.log)
	var now func() time.Time // nil is the Guard's own clock
	var chatTime *clock.Chat
	if len(a.config.Twitch.Channels) > 0 {
		chatTime = clock.NewChat(nil)
		now = chatTime.Now
		a.twitch = newTwitchConnection(a.config.Twitch, tokensOf(a.config, a.log), a.log, chatTime, dial, a.enter)
	}
	if err = a.openStore(ctx, now); err != nil {
		return err
	}
	if chatTime != nil {
		chatTime.SetBack = a.guard.Rewind
	}
	if err := (requests{a.store.Path()}).forget(); err != nil {
		a.log.Warn("old requests can't be deleted", "error", err)
	}
	a.openControls()
	a.openBot()
	a.web, err = web.New(web.Options{
		Site: s, Guard: a.guard, Store: a.store, WrongCode: persist.ErrCode, Metrics: a.metrics, Log: a.log,
		Acceptable:  a.acceptable,
		BasePolicy:  a.basePolicy,
		Channels:    a.channels,
		Connections: a.connections,
		Database:    a.database,
		Controls:    a.controls,
		CheckSpace:  roomSpace,
		Listed:      a.isListedRoom,
		Entered:     a.enterRoom,
		Report:      a.store.Report,

		ExportPolicy: config.WritePolicy,
	})
	if err != nil {
		return err
	}
	waiting, err := a.store.Throttled(ctx, a.guard.Now())
	if err != nil {
		return withoutDatabase(err)
	}
	a.web.Preload(waiting)
	return nil
}

// openControls makes what moderators can change by commands and in the dashboard. What was paused stays so.
func (a *app) openControls() {
	a.controls = control.New(control.Options{
		Guard: a.guard, Store: a.store, Log: a.log,
		Revise: func(ctx context.Context, channelID, author string, edit func(chatguard.Policy) (chatguard.Policy, error)) (bool, error) {
			return a.web.Revise(ctx, channelID, author, edit)
		},
		UserID: a.userID,
		Lift:   a.twitch.lift(),
		Forgive: func(channelID, userID string, first, last chatguard.EntryID) (dropped, underWay []chatguard.EntryID) {
			return a.bot.Forgive(channelID, userID, first, last)
		},
		Raid: control.Raid{Lasts: a.config.Raid.Lasts, Everyone: a.config.Raid.Limit(), FirstTimer: a.config.Raid.FirstTimer()},
		Changed: func(channelID string) {
			if a.web != nil { // at the start nobody looks yet
				a.web.Changed(channelID)
			}
		},
		Amended: func(channelID, userID string) { a.web.Amended(channelID, userID) },
	}, a.settings)
	a.twitch.rights.hold = a.controls.Hold
}

func (a *app) openBot() {
	options := chat.Options{
		Guard: a.guard, Source: a.twitch, Moderator: a.twitch.moderator(), Logger: a.log,
		Report: func(o journal.Outcome) {
			a.store.Report(o)
			a.web.Report(o)
		},
		Moderates: a.twitch.rights.moderates,
		Notices:   chat.Notices{Text: a.config.Notices.Text, Cooldown: a.config.Notices.Cooldown},
		SlowMode:  a.config.Twitch.SlowMode, SlowModes: map[string]string{}, Settings: a.store,
	}
	if a.config.Twitch.Commands {
		options.Answer = a.controls.Command
	}
	for channelID, settings := range a.settings {
		if was := settings[chat.SlowModeSetting]; was != "" {
			options.SlowModes[channelID] = was
		}
	}
	a.bot = chat.New(options)
}

// userID finds the user with a login: among those who have spoken, or else by asking Twitch.
func (a *app) userID(ctx context.Context, channelID, login string) (string, error) {
	id, ok, err := a.store.UserByLogin(ctx, channelID, login)
	if ok {
		return id, nil
	}
	if err != nil {
		a.log.Warn("a user can't be looked for in the database", "login", login, "error", err)
	}
	accounts, err := a.twitch.lookUp(ctx, []string{login})
	if err != nil || len(accounts) > 0 {
		return accountID(accounts), err
	}
	return "", control.ErrNoUser
}

func accountID(accounts []twitch.Account) string {
	if len(accounts) == 0 {
		return ""
	}
	return accounts[0].ID
}

// withoutDatabase says what to do about a database that a start can't read.
func withoutDatabase(err error) error {
	return fmt.Errorf("%w; `chatguard run --no-database` moderates without it", err)
}

// openStore opens the database and makes the Guard, which tells the time by now, go on where the last process ended.
func (a *app) openStore(ctx context.Context, now func() time.Time) (err error) {
	opts := &persist.Options{Logger: a.log, FlushInterval: a.config.FlushInterval, Retention: time.Duration(a.config.Retention), Metrics: a.metrics}
	if a.config.NoDatabase {
		a.log.Warn("started without a database: what happens is forgotten at the end")
		a.store, err = persist.OpenMemory(ctx, opts)
	} else {
		a.store, err = persist.Open(ctx, a.config.Database, opts)
	}
	switch {
	case errors.As(err, new(*persist.OwnedError)):
		return err
	case err != nil:
		return withoutDatabase(err)
	}
	a.guard, err = chatguard.New(a.config.Policy, &chatguard.Options{
		MaxMemory: int64(a.config.MemoryPerTable),
		Now:       now,
		Observer: func(m chatguard.Message, v chatguard.Verdict) {
			a.store.Observe(m, v)
			a.web.Observe(m, v)
		},
	})
	if err != nil {
		return err
	}
	if tokens := a.twitch.tokens; tokens != nil {
		if err := tokens.Load(ctx); err != nil {
			return err
		}
	}
	if err := a.meet(ctx); err != nil {
		return withoutDatabase(err)
	}
	if err := a.putPoliciesInForce(ctx); err != nil {
		return err
	}
	if a.settings, err = a.store.Settings(ctx); err != nil {
		return withoutDatabase(err)
	}
	began := time.Now()
	stats, err := a.store.Restore(ctx, a.guard)
	if err != nil {
		return withoutDatabase(err)
	}
	if stats.Rows > 0 {
		a.log.Info("went on where the last process ended", "rows", stats.Rows, "interrupted", stats.Interrupted, "took", time.Since(began).Round(time.Millisecond))
	}
	return nil
}

// acceptable refuses a policy of Twitch's that asks for what this bot can't do. Elsewhere whoever asks does what they can.
func (a *app) acceptable(id string, p chatguard.Policy) error {
	if a.twitch.tokens == nil || !a.logins.isTwitchs(id) {
		return nil
	}
	if key, problem := unfit(p); problem != "" {
		return fmt.Errorf("%s %s", key, problem)
	}
	return nil
}

// run moderates and serves until the context ends, then writes everything down.
func (a *app) run(ctx context.Context) error {
	writing, stopWriting := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWriting()
	written := make(chan error, 1)
	go func() { written <- a.store.Run(writing, a.guard) }()

	told := make(chan struct{})
	stopTelling := context.AfterFunc(ctx, func() {
		defer close(told)
		a.log.Info("stopping: finishing what waits; another Ctrl-C ends at once")
	})
	defer func() {
		if !stopTelling() {
			<-told // nothing is logged after the end
		}
	}()
	listener := a.listener
	a.listener = nil // the server closes it
	serving, ctx := errgroup.WithContext(ctx)
	serving.Go(func() error { return a.bot.Run(ctx) })
	serving.Go(func() error { return a.controls.Run(ctx) })
	serving.Go(func() error { return a.web.Run(ctx, listener) })
	err := serving.Wait()
	if a.twitch.tokens != nil {
		a.twitch.sumUp()
	}
	stopWriting() // nobody judges or reports any more
	return errors.Join(err, <-written)
}

func (a *app) close() {
	if a.listener != nil {
		a.listener.Close()
	}
	if a.twitch != nil {
		a.twitch.close()
	}
	if a.store != nil {
		if err := a.store.Close(); err != nil {
			a.log.Error("the database could not be closed", "error", err)
		}
	}
}

// printLink makes a sign-in link and prints it.
func (a *app) printLink(ctx context.Context, out io.Writer) error {
	code, err := a.store.NewSignInCode(ctx, journal.Holder{Name: owner, Access: journal.AccessOwn}, 0)
	if err != nil {
		return err
	}
	link := site(a.config.Web).Link(a.listener.Addr().String(), code)
	_, err = fmt.Fprintf(out, "Dashboard: %s\n(the link signs in once, within %.0f minutes)\n", link, persist.SignInTime.Minutes())
	return err
}

// printDashboard says where the dashboard is, and prints a sign-in link to a terminal: elsewhere it would let in whoever may read logs.
func (a *app) printDashboard(ctx context.Context, out io.Writer) error {
	if isTerminal(out) {
		return a.printLink(ctx, out)
	}
	how := "`chatguard signin` prints a link that signs in"
	if a.config.NoDatabase {
		how = "without a database only a start in a terminal prints a link that signs in; CHATGUARD_WEB_TOKEN signs in, too"
	}
	_, err := fmt.Fprintf(out, "Dashboard: %s\n(%s)\n", site(a.config.Web).Address(a.listener.Addr().String()), how)
	return err
}

// database is the state of the store as the dashboard shows it.
func (a *app) database() web.Database {
	h := a.store.Health()
	if a.config.NoDatabase && h.State == persist.OK {
		return web.Database{State: web.DatabaseOff}
	}
	d := web.Database{
		State: web.DatabaseOK, Detail: h.Problem, Since: h.Since, LastFlush: h.LastFlush, Lag: h.Lag,
		Queued: h.Waiting, Dropped: h.Dropped.Timeline + h.Dropped.Journal,
	}
	if h.State == persist.Failing {
		d.State = web.DatabaseFailing
	}
	return d
}

// site is where the configuration says that the dashboard is.
func site(w config.Web) web.Site {
	s := web.Site{Listen: w.Listen, TLSCert: w.TLSCert, TLSKey: w.TLSKey, Token: string(w.Token)}
	if w.PublicURL != "" {
		s.PublicURL, _ = url.Parse(w.PublicURL) // the configuration has parsed it
	}
	for _, p := range w.TrustedProxies {
		s.TrustedProxies = append(s.TrustedProxies, p.Prefix)
	}
	return s
}

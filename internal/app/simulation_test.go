package app_test

import (
	"context"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/app/apptest"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/persist/persisttest"
	"github.com/chatguard/chatguard/internal/waittest"
)

var must = twitchtest.Must

// simulation is a whole chatguard with a fake Twitch, in a bubble of simulated time. An hour there
// takes a moment, and only the test makes time pass.
type simulation struct {
	testing.TB
	server    *faketwitch.Server
	config    config.Config
	log       waittest.Output
	bot       *app.App     // nil while it is stopped
	end       func() error // ends the bot
	lastEvent int64        // that wantEvents has seen
	cut       atomic.Pointer[error]
}

// readingTime is how long a bot may take after its start to read all channels.
const readingTime = 2 * time.Second

// newSimulation starts a fake Twitch and prepares a bot for its channels. It sets the addresses and
// tokens in the configuration, among them the token of the dashboard's owner.
func newSimulation(t testing.TB, c config.Config, o faketwitch.Options) *simulation {
	t.Helper()
	o.InMemory = true
	server := twitchtest.StartWith(t, o)
	c.FlushInterval = 10 * time.Second // flushing often over simulated hours is slow
	c.Database = newDatabase(t)
	c.Twitch.ClientID, c.Twitch.Token, c.Twitch.RefreshToken = server.ClientID(), config.Secret(server.Token()), config.Secret(server.RefreshToken())
	c.Twitch.IRCAddress, c.Twitch.IRCTLS, c.Twitch.IRCWebSocketURL = server.IRCAddress(), false, server.IRCWebSocketURL()
	c.Twitch.EventSubURL, c.Twitch.HelixURL, c.Twitch.AuthURL = server.EventSubURL(), server.HelixURL(), server.AuthURL()
	c.Web.Token = "the owner's token"
	s := &simulation{TB: t, server: server, config: c}
	t.Cleanup(s.stop)
	return s
}

// emptyDatabase is a database without rows.
var emptyDatabase persisttest.Template

// newDatabase creates an empty database and returns its path.
func newDatabase(t testing.TB) string {
	return emptyDatabase.Copy(t, func(path string) {
		s, err := persist.Open(context.Background(), path, &persist.Options{Logger: slog.New(slog.DiscardHandler)})
		must(t, err)
		must(t, s.Close())
	})
}

// start runs the bot until stop, and advances time until it reads the chat.
func (s *simulation) start() {
	s.Helper()
	log := slog.New(slog.NewTextHandler(&s.log, nil))
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		if problem := s.cut.Load(); problem != nil && *problem != nil {
			return nil, *problem
		}
		return s.server.Dial(ctx, network, address)
	}
	bot, err := app.Open(context.Background(), app.Options{Config: s.config, Log: log, Dial: dial, Listener: apptest.NewListener()})
	must(s, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- bot.Run(ctx) }()
	s.bot = bot
	s.end = func() error {
		cancel()
		return <-ended
	}
	s.advance(readingTime)
}

// cutOff makes the bot get an error instead of any new connection to Twitch. Nil ends that.
func (s *simulation) cutOff(problem error) { s.cut.Store(&problem) }

// stop ends a running bot as Ctrl-C does.
func (s *simulation) stop() { s.stopThen(func() {}) }

// stopThen is like stop, and calls look once everything is written and the database is still open.
func (s *simulation) stopThen(look func()) {
	if s.bot == nil {
		return
	}
	if err := s.end(); err != nil {
		s.Error(err)
	}
	look()
	s.bot.Close()
	s.bot = nil
}

// advance advances the time and waits for what is due.
func (s *simulation) advance(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

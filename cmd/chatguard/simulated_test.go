package main

import (
	"context"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/config"
)

// simulation is a whole chatguard before a make-believe Twitch, in a bubble of simulated time: what takes an hour there takes a moment here. Nobody
// but the test makes time pass.
type simulation struct {
	testing.TB
	server *faketwitch.Server
	config config.Config
	log    logText
	bot    *app         // nil while it is stopped
	dial   dialer       // how the bot reaches Twitch
	end    func() error // ends the bot
}

// readingTime is how long a bot may take to read all channels after its start.
const readingTime = 2 * time.Second

// simulate prepares a bot with a configuration, the addresses and tokens in which are seen to, for the channels of a Twitch.
func simulate(t testing.TB, c config.Config, o faketwitch.Options) *simulation {
	t.Helper()
	o.InMemory = true
	server, err := faketwitch.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	c.FlushInterval = 10 * time.Second // who writes twice a second for simulated hours has a lot to do in real time
	c.Database = filepath.Join(t.TempDir(), "chatguard.db")
	c.Twitch.ClientID, c.Twitch.Token, c.Twitch.RefreshToken = server.ClientID(), config.Secret(server.Token()), config.Secret(server.RefreshToken())
	c.Twitch.IRCAddress, c.Twitch.IRCTLS, c.Twitch.IRCWebSocketURL = server.IRCAddress(), false, server.IRCWebSocketURL()
	c.Twitch.EventSubURL, c.Twitch.HelixURL, c.Twitch.AuthURL = server.EventSubURL(), server.HelixURL(), server.AuthURL()
	s := &simulation{TB: t, server: server, config: c, dial: server.Dial}
	t.Cleanup(s.stop)
	return s
}

// start lets the bot run until stop, and time pass until it reads the chat.
func (s *simulation) start() {
	s.Helper()
	log := slog.New(slog.NewTextHandler(&s.log, nil))
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		return s.dial(ctx, network, address)
	}
	bot, err := newAppOn(context.Background(), network{dial: dial, listener: nobodyCalls{make(chan struct{})}}, s.config, log)
	if err != nil {
		s.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- bot.run(ctx) }()
	s.bot = bot
	s.end = func() error {
		cancel()
		return <-ended
	}
	s.pass(readingTime)
}

// stop ends the bot, where it runs, the way Ctrl-C does.
func (s *simulation) stop() { s.stopAnd(func() {}) }

// stopAnd is stop, with something to be done once everything is written down and the database is still open.
func (s *simulation) stopAnd(look func()) {
	if s.bot == nil {
		return
	}
	if err := s.end(); err != nil {
		s.Error(err)
	}
	look()
	s.bot.close()
	s.bot = nil
}

// pass lets time pass, and everything happen that then happens.
func (s *simulation) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// nobodyCalls is a dashboard's listener in a world without browsers.
type nobodyCalls struct{ closed chan struct{} }

func (l nobodyCalls) Accept() (net.Conn, error) {
	<-l.closed
	return nil, net.ErrClosed
}

func (l nobodyCalls) Close() error {
	select {
	case <-l.closed:
	default:
		close(l.closed)
	}
	return nil
}

func (l nobodyCalls) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080} }

// logText is the log of the bot.
type logText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

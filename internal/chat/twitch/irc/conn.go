// Package irc reads Twitch's chat over IRC, on TCP or WebSocket, and turns its lines into messages.
// A Conn stays connected, joins its channels no faster than Twitch accepts, and passes what it
// reads to a sink.
//
// It knows nothing about Twitch's HTTP servers.
package irc

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/clock"
	"github.com/chatguard/chatguard/internal/journal"
)

// Addresses of Twitch's chat.
const (
	tlsAddress   = "irc.chat.twitch.tv:6697"
	plainAddress = "irc.chat.twitch.tv:6667"
)

// Conn reads the chat of some channels. Set its fields before the first call of Run, and don't
// change them after that. Run may be called again after it has returned. Status and SetChannels may
// be called from any goroutine at any time.
type Conn struct {
	// WebSocketURL is the address for IRC over WebSocket, which replaces TCP. Twitch's is
	// wss://irc-ws.chat.twitch.tv:443. Empty means TCP.
	WebSocketURL string

	// Address is the host:port for TCP. Empty means Twitch's, with or without TLS.
	Address string

	// TLS configures TLS over TCP. Nil means no TLS, which is only safe for a server on this
	// machine; use &tls.Config{} for Twitch. Over WebSocket the URL decides whether TLS is used,
	// and nil means &tls.Config{}.
	TLS *tls.Config

	// Dial opens the underlying network connection; nil means net.Dialer's.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	// Login returns the bot's login. It is called along with Token; required if Token returns a
	// token.
	Login func() string
	// Token returns the bot's access token. It is called for each connection. Nil or an empty token
	// means an anonymous connection.
	Token func(context.Context) (string, error)
	// Channels are the logins of the initial channels, with or without '#'. At least one is
	// required unless SetChannels set some.
	Channels []string

	// Refused receives a token that Twitch refused. If it returns nil, Conn calls Token again and
	// tries the result after a delay. If it returns an error, Run ends. A nil Refused means that
	// there is no other token.
	Refused func(ctx context.Context, token string) error

	// Vet returns why a channel must not be read after all, for people, or "". It is called before
	// Entered. Reading waits for it. Nil accepts every channel.
	Vet func(login, roomID string) (problem string)

	// Entered receives the ID of each channel before the first message from it is delivered, and
	// again with each connection. Reading waits for it. Nil means no callback.
	Entered func(login, roomID string)

	// Moderates receives whether the bot may moderate a channel. It is called after Entered, with
	// each connection, and whenever Twitch reports it again. It isn't called for anonymous
	// connections. Reading waits for it. Nil means no callback.
	Moderates func(roomID string, yes bool)

	// ModesChanged receives the modes of a channel's chat that Twitch reports: all of them with
	// each connection, after Entered, and each change. Reading waits for it. Nil means no callback.
	ModesChanged func(roomID string, to journal.ChatModesChange)

	Logger *slog.Logger // nil logs nothing
	Clock  clock.Clock  // the wall clock, unless a test replaces it
	// ChatTime receives the timestamps of messages; nil means a private clock.
	ChatTime *clock.Chat
	Timing   twitch.Timing // how long things may take

	report twitch.Report
}

// Status returns the current status of the connection.
func (i *Conn) Status() twitch.Status { return i.report.Status() }

// SetChannels replaces the channels to read. New channels are joined no faster than Twitch accepts.
// Channels that are not in logins are left. Before Run, it sets the initial channels and overrides
// Channels. It returns ErrChannel and changes nothing if a name is invalid or logins is empty.
func (i *Conn) SetChannels(logins []string) error { return i.report.SetChannels(logins) }

// Run connects, reads until ctx ends, and passes messages and removals to the sink in the order in
// which Twitch sent them. It replaces lost connections, with growing delays.
//
// It returns nil if ctx ended. It returns ErrLogin if Twitch refuses the login or token and there
// is no other token. It returns ErrChannel if a channel's name is invalid or if there are no
// channels. Every goroutine that Run started has ended when Run returns.
func (i *Conn) Run(ctx context.Context, sink chat.Sink) error {
	if err := i.report.Begin(i.Channels, i.Clock, i.Logger); err != nil {
		return err
	}
	timing, pace := i.Timing.WithDefaults(), newPacer(joinBurst, joinPeriod)
	lines := twitch.NewQueue[batch](timing.QueueWait)
	consume := func(ctx context.Context) { i.consume(ctx, lines, sink) }
	connect := func(ctx context.Context) (time.Time, error) {
		s := i.newSession(timing, pace, lines)
		err := s.run(ctx)
		if errors.Is(err, ErrLogin) {
			err = i.renew(ctx, s.token, err)
		}
		return s.welcomed, err
	}
	return twitch.StayConnected(ctx, &i.report, timing, consume, connect, ErrLogin)
}

// renew reports a refused token. It returns errRefused if Run should try another token, or refusal
// if Run must end.
func (i *Conn) renew(ctx context.Context, token string, refusal error) error {
	if token == "" || i.Refused == nil || i.Refused(ctx, token) != nil {
		return refusal
	}
	return errRefused
}

func (i *Conn) chatTime() *clock.Chat { return cmp.Or(i.ChatTime, clock.NewChat(i.Clock.Now)) }

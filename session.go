package chatguard

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"sync"
	"time"
)

// ErrNoSession is what Check of a nil *Session returns: the request didn't come through Guard.Middleware.
var ErrNoSession = errors.New("there is no session: serve this handler through Guard.Middleware")

// Session is one connection that Guard.Middleware has let in: who is at its other end, and where they write. It is safe for concurrent use.
//
// It ends when the handler returns, or, where that has taken the connection over as WebSocket libraries do, when the connection is closed.
type Session struct {
	guard   *Guard
	user    User
	channel string
	address netip.Addr // the zero value where the request has none

	ctx    context.Context
	cancel context.CancelFunc
	leave  func() // gives the places of the connection back
	ended  sync.Once
}

type sessionKey struct{}

// SessionFrom returns the session of a request's context, and nil outside of Guard.Middleware.
func SessionFrom(ctx context.Context) *Session {
	s, _ := ctx.Value(sessionKey{}).(*Session)
	return s
}

// begin makes the session a part of the request's context, which is returned, and the session's own.
func (s *Session) begin(request context.Context) context.Context {
	request = context.WithValue(request, sessionKey{}, s)
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(request))
	return request
}

func (s *Session) end() {
	s.ended.Do(func() {
		s.leave()
		s.cancel()
	})
}

// User returns who has connected, as MiddlewareOptions.Identify found at the handshake.
func (s *Session) User() User { return s.user }

// ChannelID returns the channel of messages that name none.
func (s *Session) ChannelID() string { return s.channel }

// Address returns the address that the connection comes from, the zero Addr where it has none, as a Unix socket.
func (s *Session) Address() netip.Addr { return s.address }

// Done is closed when the session has ended.
func (s *Session) Done() <-chan struct{} { return s.ctx.Done() }

// Context returns a context that ends with the session and has the values of the request's. It is for a connection that was taken over, as
// WebSocket libraries do: the request's own context doesn't notice that it is closed, and ends when the handler returns. A handler that
// streams uses the request's, which ends when the other end leaves.
func (s *Session) Context() context.Context { return s.ctx }

// Check is Guard.Check for a message that came over this connection now. The user is always the session's and the time the Guard's clock,
// whatever the message says; roles are the session's where the message has none, and so is the channel. A channel that the other end names has
// to be one that exists and that they are in: every channel has an allowance of its own. Roles and Cost must not come from the other end. On a
// nil Session it returns ErrNoSession.
func (s *Session) Check(ctx context.Context, m Message) (Verdict, error) {
	if s == nil {
		return Verdict{}, ErrNoSession
	}
	roles := cmp.Or(m.User.Roles, s.user.Roles)
	m.User = s.user
	m.User.Roles = roles
	m.SentAt = time.Time{}
	m.ChannelID = cmp.Or(m.ChannelID, s.channel)
	return s.guard.Check(ctx, m)
}

package httpguard

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
)

// ErrNoSession is the error of Check on a nil *Session: the request didn't pass through Sessions.
var ErrNoSession = errors.New("httpguard: there is no session: serve this handler through Sessions")

// Session is a connection that Sessions has admitted, with its user and channel. It is safe for
// concurrent use. A nil Session stands for a request that didn't pass through Sessions; its methods
// can be called, and judge nothing.
//
// A Session ends when the handler returns. If the handler has taken over the connection, as
// WebSocket libraries do, the Session ends when the connection is closed.
type Session struct {
	guard   *chatguard.Guard
	user    chatguard.User
	channel string
	address netip.Addr // zero if the request has no address

	ctx    context.Context
	cancel context.CancelCauseFunc
	leave  func() // stops counting the connection as open
	ended  sync.Once
}

// noSession is the context of a nil Session.
var noSession = endedContext(ErrNoSession)

func endedContext(cause error) context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	return ctx
}

type sessionKey struct{}

// SessionFrom returns the session from the context of a request, or from Session.Context. It
// returns nil if the request didn't pass through Sessions.
func SessionFrom(ctx context.Context) *Session {
	s, _ := ctx.Value(sessionKey{}).(*Session)
	return s
}

// begin creates the session's own context. It returns the request's context with the session added.
func (s *Session) begin(request context.Context) context.Context {
	request = context.WithValue(request, sessionKey{}, s)
	s.ctx, s.cancel = context.WithCancelCause(context.WithoutCancel(request))
	return request
}

// end ends the session. The cause is nil if the connection is closed.
func (s *Session) end(cause error) {
	s.ended.Do(func() {
		s.leave()
		s.cancel(cause)
	})
}

// User returns the connected user, whom Sessions identified at the handshake. It
// returns the zero User on a nil Session.
func (s *Session) User() chatguard.User {
	if s == nil {
		return chatguard.User{}
	}
	return s.user
}

// ChannelID returns the channel that is used for messages without a channel. It returns "" on a nil
// Session.
func (s *Session) ChannelID() string {
	if s == nil {
		return ""
	}
	return s.channel
}

// Address returns the address that the connection comes from. It returns the zero Addr if there is
// none, for example over a Unix socket, and on a nil Session.
func (s *Session) Address() netip.Addr {
	if s == nil {
		return netip.Addr{}
	}
	return s.address
}

// Done returns a channel that is closed when the session ends. On a nil Session, it is closed.
func (s *Session) Done() <-chan struct{} { return s.Context().Done() }

// Context returns a context that ends with the session and has the request's values. Use it for a
// connection that was taken over, as WebSocket libraries do: the request's own context ends when
// the handler returns, not when such a connection is closed. A handler that streams should use the
// request's context, which ends when the client leaves.
//
// On a nil Session, the context has ended and its cause is ErrNoSession. So a handler that isn't
// behind Sessions hangs up, and doesn't serve a chat without limits.
func (s *Session) Context() context.Context {
	if s == nil {
		return noSession
	}
	return s.ctx
}

// Check is Guard.Check for a message that has just arrived over this connection. It always uses the
// session's user and the Guard's clock, whatever m contains. If m has no roles or no channel, it
// uses the session's. If the client names a channel, the caller must check that the channel exists
// and that the user is in it, since every channel has its own allowance. The caller must not take
// Roles and Cost from the client. If a framework hid the takeover of the connection, the
// session has ended although the connection is open, and Check returns the cause. On a nil Session,
// it returns ErrNoSession.
func (s *Session) Check(ctx context.Context, m chatguard.Message) (chatguard.Verdict, error) {
	if s == nil {
		return chatguard.Verdict{}, ErrNoSession
	}
	if s.ctx != nil && s.ctx.Err() != nil {
		if cause := context.Cause(s.ctx); cause != context.Canceled {
			return chatguard.Verdict{}, cause
		}
	}
	return s.guard.Check(ctx, s.Message(m))
}

// Message returns the message that Check judges: m with the session's user, without a time, and
// with the session's roles and channel if it has none. Use it for the Guard's other methods, such
// as CheckUpTo and Reserve. On a nil Session, it returns a message without a user, which no Guard
// judges.
func (s *Session) Message(m chatguard.Message) chatguard.Message {
	m.SentAt = time.Time{}
	if s == nil {
		m.User = chatguard.User{}
		return m
	}
	roles := cmp.Or(m.User.Roles, s.user.Roles)
	m.User = s.user
	m.User.Roles = roles
	m.ChannelID = cmp.Or(m.ChannelID, s.channel)
	return m
}

// NewHoldQueue returns a queue for at most size pending messages of this connection. It is
// chatguard.NewHoldQueue with the session's Guard. On a nil *Session, the queue gives nothing back.
func (s *Session) NewHoldQueue(size int) *chatguard.HoldQueue {
	if s == nil {
		return chatguard.NewHoldQueue(nil, size)
	}
	return chatguard.NewHoldQueue(s.guard, size)
}

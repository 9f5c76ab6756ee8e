package connguard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard"
)

// ErrNoSession is the error of a nil *Session: no Door has admitted the connection.
var ErrNoSession = errors.New("connguard: there is no session: admit the connection through a Door, and with package httpguard, serve the handler through Sessions")

// errNotPending is the error of a second Admit, and of an Admit after Close.
var errNotPending = errors.New("connguard: Session.Admit is called for a session that is closed or already admitted")

// Session is an open connection that a Door has accepted, with its user and channel. It is safe for
// concurrent use. Close it when the connection is closed, whatever else happens:
//
//	session, err := door.Admit(ctx, user, addr, "lobby")
//	if err != nil {
//		text, _ := connguard.Answer(err)
//		…
//	}
//	defer session.Close() // also if the handler panics
//
// A nil Session stands for a connection that no Door has admitted. Its methods can be called, and
// judge nothing.
type Session struct {
	door               *Door
	address            netip.Addr // zero if the connection has no address
	addressID, blockID string     // under which it counts; empty: it doesn't
	ctx                context.Context
	cancel             context.CancelCauseFunc

	left   bool   // under Door.mu: it counts no more
	userID string // under Door.mu: under which it counts; empty: it doesn't

	admitted atomic.Bool // user and channel are known, and don't change any more
	user     chatguard.User
	channel  string
}

// noSession is the context of a nil Session.
var noSession = endedContext(ErrNoSession)

func endedContext(cause error) context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	return ctx
}

// Admit makes a user the author of the connection's messages. It spends one of the user's
// connection attempts. channelID is the channel that is used for messages without a channel; empty
// means that each message names its own. Users must not be able to choose another user's ID. For a
// client that isn't signed in, set User.Visitor, and use an ID of AddressID, or AnonymousID, whose
// connections are limited by address only.
//
// The error is a *chatguard.ThrottledError, ErrConnections, that of a context that has ended, or a
// mistake of the program, such as ErrReservedID or chatguard.ErrInvalid. After an error, the
// connection still counts for its address, and the client may sign in again. An admitted session
// keeps its user: another Admit is an error, and so is one after Close.
func (s *Session) Admit(ctx context.Context, user chatguard.User, channelID string) error {
	switch {
	case s == nil:
		return ErrNoSession
	case IsReservedID(user.ID) != user.Visitor:
		return fmt.Errorf("connguard: a user has the ID %q: %w", user.ID, ErrReservedID)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	m := chatguard.Message{ChannelID: cmp.Or(channelID, connectsChannel), User: user}
	m.User.Timezone = "" // Check judges a message whose zone is unknown
	if err := m.Validate(); err != nil {
		return fmt.Errorf("connguard: the user or the channel is invalid: %w", err)
	}
	if user.ID != AnonymousID {
		if err := s.door.users.connect(ctx, user, s.door.now()); err != nil {
			return err
		}
	}
	return s.door.enterUser(s, user, channelID)
}

// Close ends the session: the connection counts as open no more. Close it together with the
// connection, not earlier. It may be called several times, and on a nil Session.
func (s *Session) Close() { s.CloseWithError(nil) }

// CloseWithError is Close for a reason, for example that a moderator has removed the user. The
// reason is the cause of the context's end, and Check then returns it. Without a reason, Check
// still judges a message that was on its way. Only the first call counts.
func (s *Session) CloseWithError(err error) {
	if s != nil && s.door.leave(s) {
		s.cancel(err)
	}
}

// User returns the user of the connection. It returns the zero User before Admit, and on a nil
// Session.
func (s *Session) User() chatguard.User {
	if s == nil || !s.admitted.Load() {
		return chatguard.User{}
	}
	return s.user
}

// ChannelID returns the channel that is used for messages without a channel. It returns "" if there
// is none, before Admit, and on a nil Session.
func (s *Session) ChannelID() string {
	if s == nil || !s.admitted.Load() {
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

// Context returns a context that ends when the session is closed, and has the values of Accept's
// context. On a nil Session, the context has ended and its cause is ErrNoSession. So a handler
// without a session hangs up, and doesn't serve a chat without limits.
func (s *Session) Context() context.Context {
	if s == nil {
		return noSession
	}
	return s.ctx
}

// Check is Guard.Check for a message that has just arrived over this connection. Parse the message
// first: limits on repeated text count only messages with a Text. Check always uses the session's
// user and the Guard's clock, whatever m contains. If m has no roles, zone or channel, it uses the
// session's. If the client names a channel, the caller must check that the channel exists and that
// the user is in it, since every channel has its own allowance. The caller must not take Roles and
// Cost from the client.
//
// After CloseWithError, Check returns that error. On a nil Session it returns ErrNoSession, and
// before Admit chatguard.ErrInvalid.
func (s *Session) Check(ctx context.Context, m chatguard.Message) (chatguard.Verdict, error) {
	if s == nil {
		return chatguard.Verdict{}, ErrNoSession
	}
	if s.ctx.Err() != nil {
		if cause := context.Cause(s.ctx); cause != context.Canceled {
			return chatguard.Verdict{}, cause
		}
	}
	return s.door.guard.Check(ctx, s.Message(m))
}

// Message returns the message that Check judges: m with the session's user, without a time, and
// with the session's roles, zone and channel if it has none. Use it for the Guard's other methods,
// such as CheckUpTo and Reserve. Before Admit and on a nil Session, it returns a message without a
// user, which no Guard judges.
func (s *Session) Message(m chatguard.Message) chatguard.Message {
	m.SentAt = time.Time{}
	roles, zone := m.User.Roles, m.User.Timezone
	if m.User = s.User(); m.User.ID == "" {
		return m
	}
	m.User.Timezone = cmp.Or(zone, m.User.Timezone)
	if len(roles) > 0 {
		m.User.Roles = roles
	}
	m.ChannelID = cmp.Or(m.ChannelID, s.channel)
	return m
}

// NewHoldQueue returns a queue for at most size pending messages of this connection. It is
// chatguard.NewHoldQueue with the Door's Guard. On a nil Session, the queue gives nothing back.
func (s *Session) NewHoldQueue(size int) *chatguard.HoldQueue {
	if s == nil {
		return chatguard.NewHoldQueue(nil, size)
	}
	return chatguard.NewHoldQueue(s.door.guard, size)
}

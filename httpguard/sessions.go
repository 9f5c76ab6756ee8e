package httpguard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
)

// SessionOptions are optional settings of Sessions: where messages count, and how requests are
// answered. A nil *SessionOptions is the same as the zero value.
type SessionOptions struct {
	// Channel returns the channel in which the connection's messages count. Return only names of
	// existing rooms, because each new name gets a new allowance. Nil means MainChannel.
	Channel func(*http.Request) string

	// Addresses says how to find the address of a request. Nil means that no proxy is trusted.
	// IPv6Bits has no effect here: a Door always counts by /64, and by /48 with a higher limit.
	Addresses *AddressOptions

	// Refused writes the answer to a request that is refused. If it is nil, the answer is one line
	// of text with status 429, 401, 500, or 503 if the request's context has ended. The error is a
	// *chatguard.ThrottledError, connguard.ErrConnections, ErrNobody, or an internal error that
	// must not be shown to the client. Refused must write a status; Retry-After and
	// WWW-Authenticate are already set.
	Refused func(http.ResponseWriter, *http.Request, error)

	// Authenticate is the header WWW-Authenticate of a 401, which RFC 9110 requires: for ByKey, it
	// is `Bearer realm="chat"`, for example. Empty means no header.
	Authenticate string

	// Logger receives the errors answered with 500, and a warning if limits on open connections
	// can't be kept. Nil means slog.Default().
	Logger *slog.Logger
}

// middleware admits or refuses requests.
type middleware struct {
	SessionOptions
	door     *connguard.Door
	identify func(*http.Request) (chatguard.User, error)
	refuser  refuser
	warned   sync.Once // of errHidden
}

// Sessions returns a function that puts a Door in front of an HTTP handler. It works with any
// WebSocket library on net/http, with streamed responses, and with clients that poll. It identifies
// the user once, at the handshake. If a client connects too often or has too many open connections,
// it answers with status 429 and Retry-After. The handler calls SessionFrom to get the session from
// the request's context, and uses it to judge each incoming message.
//
// identify returns the user who makes the request. Use ByKey, ByAddress or Anonymous, combine
// several of them with FirstOf, or write a func that reads a session cookie. Users must not be able
// to choose their ID; otherwise they could choose another user's. The middleware answers ErrNobody
// with 401. Any other error counts as a mistake of the server, and so does a user without an ID or
// with a reserved ID (connguard.ErrReservedID). The middleware answers mistakes with 500 and logs
// them. It counts the address before it calls identify, which may look up a key, so an address
// can't guess keys without limit.
//
// All handlers behind one Door share its limits, and so do other servers that use the Door. Every
// request that reaches the middleware counts as a connection, so clients that poll need higher
// limits than WebSockets.
//
// A session ends when the handler returns. A handler that takes over the connection, as WebSocket
// libraries do, must close it through the net.Conn that it received: the session ends then, and
// otherwise never. If the handler panics after it has taken over the connection, the middleware
// closes the connection, which net/http would not do. The handler must not close the session
// itself.
//
// The handler must use the ResponseWriter that the middleware gives it. Handlers in gin don't: gin
// gives them its own. A connection that they take over then stays open after its session has ended.
// If the framework's writer has a method Written, as gin's has, the middleware can notice that: it
// logs a warning once, and the session judges no more messages. Put Sessions around such a
// framework, not into it.
//
// The error says which argument is missing.
func Sessions(door *connguard.Door, identify func(*http.Request) (chatguard.User, error), opts *SessionOptions) (func(http.Handler) http.Handler, error) {
	if door == nil {
		return nil, errors.New("httpguard: the Door is nil: pass the one that connguard.New returns")
	}
	if identify == nil {
		return nil, errNoIdentify
	}
	opts = cmp.Or(opts, &SessionOptions{})
	m := &middleware{SessionOptions: *opts, door: door, identify: identify}
	m.Channel = channelOr(m.Channel)
	m.refuser = refuser{opts.Refused, opts.Authenticate, opts.Logger, true}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { m.serve(w, r, next) })
	}, nil
}

// sessionKey is the context key for the place of a request's session. The place is empty until the
// request is admitted, because the session's context has the same values.
type sessionKey struct{}

// SessionFrom returns the session from the context of a request, or from Session.Context. It
// returns nil if the request didn't pass through Sessions. A handler that takes over the connection
// should use Session.Context: the request's own context ends when the handler returns, not when
// such a connection is closed. A handler that streams should use the request's context, which ends
// when the client leaves.
func SessionFrom(ctx context.Context) *connguard.Session {
	if place, ok := ctx.Value(sessionKey{}).(**connguard.Session); ok {
		return *place
	}
	return nil
}

func (m *middleware) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	place := new(*connguard.Session)
	// Pass this request on to the handler, so that a form parsed by identify isn't lost.
	r = r.WithContext(context.WithValue(r.Context(), sessionKey{}, place))
	if err := m.admit(place, r); err != nil {
		m.refuser.refuse(w, r, new(headerValues), err)
		return
	}
	returned := false
	writer := &sessionWriter{ResponseWriter: w, session: *place, upgrade: r.Header.Get("Upgrade") != "", hidden: m.warnHidden}
	defer func() { writer.finish(returned) }() // no recover, so a panic keeps its stack trace
	next.ServeHTTP(writer, r)
	returned = true
}

// warnHidden logs once that handlers take over connections without the middleware.
func (m *middleware) warnHidden() {
	m.warned.Do(func() { m.refuser.log().Warn(errHidden.Error()) })
}

// admit sets the session of a request, or returns the error with which the request is refused.
func (m *middleware) admit(place **connguard.Session, r *http.Request) error {
	session, err := m.door.Accept(r.Context(), ClientAddress(r, m.Addresses))
	if err != nil {
		return err
	}
	defer func() {
		if *place == nil { // it is refused, or identify has panicked
			session.Close()
		}
	}()
	user, err := m.identify(r)
	if err != nil {
		return err
	}
	channel := m.Channel(r)
	if channel == "" {
		return fmt.Errorf("httpguard: SessionOptions.Channel returned an empty name: %w", chatguard.Message{}.Validate())
	}
	if err := session.Admit(r.Context(), user, channel); err != nil {
		return err
	}
	*place = session
	return nil
}

package httpguard

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
)

// ErrConnections says that a user or an address has reached the maximum number of open connections.
var ErrConnections = errors.New("httpguard: too many connections are open at once")

// SessionOptions are optional settings of Sessions: where messages count, and how often and from
// where users may connect. A nil *SessionOptions is the same as the zero value.
type SessionOptions struct {
	// Channel returns the channel in which the connection's messages count. Return only names of
	// existing rooms, because each new name gets a new allowance. Nil means MainChannel.
	Channel func(*http.Request) string

	// MaxConnections is the maximum number of open connections of a user, and
	// MaxConnectionsPerAddress is the maximum of an address. 0 means 10 for a user and 100 for an
	// address; a negative number means unlimited. If a client disappears, its connection counts
	// until the server closes it. To notice this soon, the server should send pings.
	MaxConnections, MaxConnectionsPerAddress int

	// Connects limits how often a user may connect, and ConnectsPerAddress limits how often an
	// address may; NoLimit means unlimited. The zero Limit means a token bucket: for a user with a
	// Burst of 10 and a Refill of 2 s, and for an address with a Burst of 40 and a Refill of 500
	// ms. The Name may be omitted. Every request that reaches the middleware counts, so clients
	// that poll need higher limits.
	Connects, ConnectsPerAddress chatguard.Limit

	// Addresses says how to find the address that a request comes from. Nothing is limited by
	// address if the request has none, for example over a Unix socket. Nil means the address of the
	// connection.
	Addresses *AddressOptions

	// Refused writes the answer to a request that is refused. If it is nil, the answer is one line
	// of text with status 429, 401, 500, or 503 if the request's context has ended. The error is a
	// *chatguard.ThrottledError, ErrConnections, ErrNobody, or an internal error that must not be
	// shown to the client. Refused must write a status; Retry-After and WWW-Authenticate are
	// already set.
	Refused func(http.ResponseWriter, *http.Request, error)

	// Authenticate is the header WWW-Authenticate of a 401, which RFC 9110 requires: for ByKey, it
	// is `Bearer realm="chat"`, for example. Empty means no header.
	Authenticate string

	// Logger receives the errors answered with 500, and a warning if limits on open connections
	// can't be kept. Nil means slog.Default().
	Logger *slog.Logger
}

// Default limits on connecting.
var (
	connectsOfUser    = chatguard.TokenBucketLimit("connects", 10, 2*time.Second)
	connectsOfAddress = chatguard.TokenBucketLimit("connects-per-address", 40, 500*time.Millisecond)
)

// middleware admits or refuses requests.
type middleware struct {
	SessionOptions
	guard    *chatguard.Guard
	identify func(*http.Request) (chatguard.User, error)

	users, addresses *gate
	blocks           *gate // by address block
	refuser          refuser
	warned           sync.Once // of errHidden
}

// Sessions returns a function that puts the Guard in front of an HTTP handler. It works with any
// WebSocket library, with streamed responses, and with clients that poll. It identifies the user
// once, at the handshake. If a client connects too often or has too many open connections, it
// answers with status 429 and Retry-After. The handler calls SessionFrom to get the Session from
// the request's context, and uses it to judge each incoming message.
//
// identify returns the user who makes the request. Use ByKey, ByAddress or Anonymous, combine
// several of them with FirstOf, or write a func that reads a session cookie. Users must not be able
// to choose their ID; otherwise they could choose another user's. The middleware answers ErrNobody
// with 401. Any other error counts as a mistake of the server, and so does a user without an ID or
// with a reserved ID (ErrReservedID). The middleware answers mistakes with 500 and logs them.
//
// All handlers wrapped by one middleware share its limits. All IPv6 addresses of a /64 count as one
// address, and a /48 is allowed eight times as many connections as one address. Requests without an
// address, such as those over a Unix socket, are limited by user only. Requests of AnonymousID are
// limited by address only. Sessions starts no goroutine. It uses the Guard's clock.
//
// A handler that takes over the connection must close it through the net.Conn that it received, as
// WebSocket libraries do; otherwise the session never ends. If the handler panics after it has
// taken over the connection, the middleware closes the connection, which net/http would not do.
//
// The handler must use the ResponseWriter that the middleware gives it. Handlers in gin don't: gin
// gives them its own. A connection that they take over then stays open after its session has ended.
// If the framework's writer has a method Written, as gin's has, the middleware can notice that, and
// logs a warning once. Put Sessions around such a framework, not into it.
//
// The error says which argument is missing, or which limit of the options is invalid.
func Sessions(guard *chatguard.Guard, identify func(*http.Request) (chatguard.User, error), opts *SessionOptions) (func(http.Handler) http.Handler, error) {
	if err := checkArguments(guard, identify); err != nil {
		return nil, err
	}
	opts = cmp.Or(opts, &SessionOptions{})
	m := &middleware{SessionOptions: *opts, guard: guard, identify: identify}
	m.Channel = channelOr(m.Channel)
	m.refuser = refuser{opts.Refused, opts.Authenticate, opts.Logger, "Too many connection attempts."}
	var err error
	if m.users, err = newGate("Connects", opts.Connects, connectsOfUser, cmp.Or(opts.MaxConnections, 10), guard.Now); err != nil {
		return nil, err
	}
	if m.addresses, err = newGate("ConnectsPerAddress", opts.ConnectsPerAddress, connectsOfAddress, cmp.Or(opts.MaxConnectionsPerAddress, 100), guard.Now); err != nil {
		return nil, err
	}
	if m.blocks, err = newGate("ConnectsPerAddress", blockLimit(opts.ConnectsPerAddress), blockLimit(connectsOfAddress), blockFactor*m.addresses.most, guard.Now); err != nil {
		return nil, err
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { m.serve(w, r, next) })
	}, nil
}

func (m *middleware) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	// Pass this request on to the handler, so that a form parsed by identify isn't lost.
	ctx, guest := withGuest(r.Context())
	r = r.WithContext(ctx)
	s, err := m.admit(r, guest)
	if err != nil {
		m.refuser.refuse(w, r, err)
		return
	}
	returned := false
	writer := &sessionWriter{ResponseWriter: w, session: s, upgrade: r.Header.Get("Upgrade") != "", hidden: m.warnHidden}
	defer func() { writer.finish(returned) }() // no recover, so a panic keeps its stack trace
	next.ServeHTTP(writer, r.WithContext(s.begin(ctx)))
	returned = true
}

// warnHidden logs once that handlers take over connections without the middleware.
func (m *middleware) warnHidden() {
	m.warned.Do(func() { m.refuser.log().Warn(errHidden.Error()) })
}

// admit returns the session of a request, or the error with which the request is refused. It checks
// the address before it calls identify, because identify may look up a key. This also limits how
// often an address can guess keys.
func (m *middleware) admit(r *http.Request, guest *string) (*Session, error) {
	addr := ClientAddress(r, m.Addresses)
	var address, block chatguard.User // no ID if the request has no address
	if addr.IsValid() {
		address.ID, block.ID = connguard.AddressKey(addr), connguard.AddressBlock(addr)
	}
	if err := m.addresses.connect(r.Context(), address); err != nil {
		return nil, err
	}
	if err := m.blocks.connect(r.Context(), block); err != nil {
		return nil, err
	}
	user, err := identified(m.identify, r, guest)
	if err != nil {
		return nil, err
	}
	s := &Session{guard: m.guard, user: user, channel: m.Channel(r), address: addr}
	if err := (&chatguard.Message{ChannelID: s.channel, User: user}).Validate(); err != nil {
		return nil, fmt.Errorf("httpguard: identify or Channel returned an invalid value: %w", err)
	}
	if user.ID == AnonymousID {
		user.ID = ""
	}
	if err := m.users.connect(r.Context(), user); err != nil {
		return nil, err
	}
	return s, m.enter(s, user.ID, address.ID, block.ID)
}

// enter counts the session's connection for its user, address and address block. If any of them has
// too many open connections, enter counts none and returns ErrConnections.
func (m *middleware) enter(s *Session, user, address, block string) error {
	var entered []func()
	s.leave = func() {
		for _, leave := range entered {
			leave()
		}
	}
	for _, in := range []struct {
		gate *gate
		id   string
	}{{m.users, user}, {m.addresses, address}, {m.blocks, block}} {
		if !in.gate.enter(in.id) {
			s.leave()
			return ErrConnections
		}
		entered = append(entered, func() { in.gate.leave(in.id) })
	}
	return nil
}

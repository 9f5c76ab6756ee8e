package chatguard

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strconv"
	"time"
)

// MainChannel is the channel of connections where MiddlewareOptions.Channel names no other.
const MainChannel = "main"

// ErrConnections says that a user or an address has as many connections open as it may have.
var ErrConnections = errors.New("too many connections are open at once")

// retryConnections is the Retry-After, in seconds, of ErrConnections. When one of the others closes, nobody knows.
const retryConnections = 5

// MiddlewareOptions say who connects, and how often they may. Only Identify is required.
type MiddlewareOptions struct {
	// Identify returns who makes the request: ByKey, ByAddress, Anonymous, FirstOf several, or a func that reads a session cookie. The ID must
	// be one that users can't choose, or they'd choose somebody else's. ErrNobody is answered with 401. Any other error, and a user without
	// an ID or with a reserved one (ErrReservedID), is the server's mistake: it is answered with 500 and logged.
	Identify func(*http.Request) (User, error)

	// Channel returns the channel in which the connection's messages count. Let it return names of rooms that exist: each name is remembered
	// for good. Nil means MainChannel.
	Channel func(*http.Request) string

	// MaxConnections is how many connections a user, and MaxConnectionsPerAddress how many an address, may have open at once. 0 means 10
	// and 100, negative any number. One whose other end has vanished counts until the server notices and closes it: let it send pings.
	MaxConnections, MaxConnectionsPerAddress int

	// Connects limits how often a user, and ConnectsPerAddress how often an address, may connect. The zero Limit means a token-bucket of 10 / 2 s
	// and 40 / 500 ms. The Name may be left out. Every request that the middleware sees counts, so whoever is polled needs more.
	Connects, ConnectsPerAddress Limit

	// TrustedProxies are those whose X-Forwarded-For is believed. Without the ones that stand in front of this server, all of its users have
	// one address; with one too many, users can invent theirs. Behind a proxy on a Unix socket nobody has an address, and nothing is limited by
	// it, unless a layer in front sets the request's RemoteAddr.
	TrustedProxies []netip.Prefix

	// Refused answers requests that aren't let in, in place of one line of text with 429, 401 or 500. The error is a *ThrottledError,
	// ErrConnections, ErrNobody, or what went wrong here, which is not for the other end to read. It has to write a status; Retry-After is set already.
	Refused func(http.ResponseWriter, *http.Request, error)

	// Logger is told what is answered with 500. Nil means slog.Default().
	Logger *slog.Logger
}

// How often one may connect where MiddlewareOptions says nothing else.
var (
	connectsOfUser    = Limit{Name: "connects", Algorithm: TokenBucket, Burst: 10, Refill: 2 * time.Second}
	connectsOfAddress = Limit{Name: "connects-per-address", Algorithm: TokenBucket, Burst: 40, Refill: 500 * time.Millisecond}
)

// middleware lets requests in.
type middleware struct {
	MiddlewareOptions
	guard *Guard

	users, addresses *gate
	blocks           *gate // of addresses
}

// Middleware returns what puts the Guard in front of an HTTP handler, for servers that speak WebSocket with any library, or stream, or are
// polled. It identifies the user once, at the handshake, and answers 429 with Retry-After to whoever connects too often or has too many
// connections open. The handler finds a Session in the request's context, and judges with it each message that comes in.
//
// All handlers that one middleware is put around share its limits. IPv6 addresses count by their /64, and eight times as many are
// let in from a /48. Requests that have no address, those
// over a Unix socket, are limited by user only, and requests of AnonymousID by address only. Middleware starts no goroutine.
//
// A handler that takes the connection over has to close it through the net.Conn that it was given, as WebSocket libraries do, or the session
// never ends. When it panics afterwards, the connection is closed, which net/http would not do.
func (g *Guard) Middleware(opts MiddlewareOptions) (func(http.Handler) http.Handler, error) {
	if opts.Identify == nil {
		return nil, errors.New("MiddlewareOptions.Identify is missing: say who connects, by ByKey, ByAddress, Anonymous or a func of your own")
	}
	if opts.Channel == nil {
		opts.Channel = func(*http.Request) string { return MainChannel }
	}
	users, err := newGate("Connects", opts.Connects, connectsOfUser, cmp.Or(opts.MaxConnections, 10), g.given)
	if err != nil {
		return nil, err
	}
	addresses, err := newGate("ConnectsPerAddress", opts.ConnectsPerAddress, connectsOfAddress, cmp.Or(opts.MaxConnectionsPerAddress, 100), g.given)
	if err != nil {
		return nil, err
	}
	blocks, err := newGate("ConnectsPerAddress", forBlock(opts.ConnectsPerAddress), forBlock(connectsOfAddress), blockFactor*addresses.most, g.given)
	if err != nil {
		return nil, err
	}
	m := &middleware{opts, g, users, addresses, blocks}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { m.serve(w, r, next) })
	}, nil
}

func (m *middleware) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	r, guest := withGuest(r) // also for the handler, so that what Identify reads of a form isn't lost
	s, err := m.admit(r, guest)
	if err != nil {
		m.refuse(w, r, err)
		return
	}
	ctx, writer, returned := s.begin(r.Context()), &sessionWriter{ResponseWriter: w, session: s}, false
	defer func() { writer.handled(returned) }() // without recover, a panic keeps its trace
	next.ServeHTTP(writer, r.WithContext(ctx))
	returned = true
}

// admit returns the session of a request, or why there is none. The address comes first: guessing who is known here, which costs a look-up,
// is then limited too.
func (m *middleware) admit(r *http.Request, guest *string) (*Session, error) {
	addr := ClientAddress(r, m.TrustedProxies)
	var address, block User // without an ID where the request has no address
	if addr.IsValid() {
		address.ID, block.ID = AddressKey(addr), AddressBlock(addr)
	}
	if err := m.addresses.connect(r.Context(), address); err != nil {
		return nil, err
	}
	if err := m.blocks.connect(r.Context(), block); err != nil {
		return nil, err
	}
	user, err := m.Identify(r)
	if err == nil && isReserved(user.ID) && user.ID != *guest {
		err = fmt.Errorf("Identify returned %q: %w", user.ID, ErrReservedID)
	}
	if err != nil {
		return nil, err
	}
	s := &Session{guard: m.guard, user: user, channel: m.Channel(r), address: addr}
	if err := (&Message{ChannelID: s.channel, User: user}).Validate(); err != nil {
		return nil, fmt.Errorf("of what Identify and Channel returned: %w", err)
	}
	if user.ID == AnonymousID {
		user.ID = ""
	}
	if err := m.users.connect(r.Context(), user); err != nil {
		return nil, err
	}
	return s, m.enter(s, user.ID, address.ID, block.ID)
}

// enter counts the session's connection as open, by user, by address and by block, or by none of them.
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

// refuse answers a request that isn't let in.
func (m *middleware) refuse(w http.ResponseWriter, r *http.Request, err error) {
	status, text := http.StatusInternalServerError, "The server failed to let you in. It is the server's mistake; its log says more."
	var throttled *ThrottledError
	switch {
	case errors.As(err, &throttled):
		status, text = http.StatusTooManyRequests, "You connect too often. Try again in "+Wait(throttled.Verdict.RetryAfter)+"."
		w.Header().Set("Retry-After", strconv.Itoa(throttled.Verdict.RetryAfterSeconds()))
	case errors.Is(err, ErrConnections):
		status, text = http.StatusTooManyRequests, "You have too many connections open. Close one, then try again."
		w.Header().Set("Retry-After", strconv.Itoa(retryConnections))
	case errors.Is(err, ErrNobody):
		status, text = http.StatusUnauthorized, "The server doesn't know who you are. Sign in, then try again."
	case r.Context().Err() != nil: // whoever asked has gone, and Identify was told so
	default:
		cmp.Or(m.Logger, slog.Default()).LogAttrs(r.Context(), slog.LevelError, "a connection was refused", slog.Any("error", err))
	}
	if m.Refused != nil {
		m.Refused(w, r, err)
		return
	}
	http.Error(w, text, status)
}

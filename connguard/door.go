package connguard

import (
	"cmp"
	"context"
	"errors"
	"math"
	"net/netip"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
)

// Options are optional settings of New. A nil *Options is the same as the zero value.
type Options struct {
	// MaxConnections is the maximum number of open connections of a user, and
	// MaxConnectionsPerAddress is the maximum of an address. 0 means 10 for a user and 100 for an
	// address; a negative number means unlimited. If a client disappears, its connection counts
	// until the server closes it. To notice this soon, the server should send pings.
	MaxConnections, MaxConnectionsPerAddress int

	// Connects limits how often a user may connect, and ConnectsPerAddress limits how often an
	// address may; NoLimit means unlimited. The zero Limit means a token bucket: for a user with a
	// Burst of 10 and a Refill of 2 s, and for an address with a Burst of 40 and a Refill of 500
	// ms. The Name may be omitted. Connects may have numbers for roles of the Guard's policy.
	Connects, ConnectsPerAddress chatguard.Limit
}

// Default limits on connecting.
var (
	connectsOfUser    = chatguard.TokenBucketLimit("connects", 10, 2*time.Second)
	connectsOfAddress = chatguard.TokenBucketLimit("connects-per-address", 40, 500*time.Millisecond)
)

// Door limits how often users and addresses connect, and how many of their connections are open at
// once. It is safe for concurrent use. It starts no goroutine, and its methods never wait. The zero
// Door can't be used: get one from New.
type Door struct {
	guard *chatguard.Guard // judges messages

	users, addresses gate
	blocks           gate // by address block

	mu   sync.Mutex // guards last, and what is open
	last time.Time  // when the clock was last read
}

// New returns a Door for the connections over which the Guard's messages arrive. The Door uses the
// Guard's clock. The error says which limit of the options is invalid, or that guard is nil.
func New(guard *chatguard.Guard, opts *Options) (*Door, error) {
	if guard == nil {
		return nil, errors.New("connguard: the Guard is nil: pass the one that chatguard.New returns")
	}
	opts = cmp.Or(opts, &Options{})
	d := &Door{guard: guard}
	var err error
	if d.users, err = newGate("Connects", opts.Connects, connectsOfUser, cmp.Or(opts.MaxConnections, 10), guard); err != nil {
		return nil, err
	}
	if d.addresses, err = newGate("ConnectsPerAddress", opts.ConnectsPerAddress, connectsOfAddress, cmp.Or(opts.MaxConnectionsPerAddress, 100), guard); err != nil {
		return nil, err
	}
	most := min(d.addresses.most, math.MaxInt/blockFactor) * blockFactor
	if d.blocks, err = newGate("ConnectsPerAddress", blockLimit(opts.ConnectsPerAddress), blockLimit(connectsOfAddress), most, guard); err != nil {
		return nil, err
	}
	return d, nil
}

// Admit admits a connection of a user from an address, or returns the error with which it is
// refused. It does what Accept and Session.Admit do, in one call, for servers that know the user
// when the connection begins. After an error, nothing is open.
func (d *Door) Admit(ctx context.Context, user chatguard.User, addr netip.Addr, channelID string) (*Session, error) {
	s, err := d.Accept(ctx, addr)
	if err != nil {
		return nil, err
	}
	if err := s.Admit(ctx, user, channelID); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Accept begins the session of a connection whose user isn't known yet. It counts the connection
// for its address, so that one address can neither guess passwords without limit, nor hold many
// connections without signing in. Call Session.Admit when the user is known, and Session.Close when
// the connection is closed. Give clients a deadline to sign in: until then, they hold a place.
//
// All IPv6 addresses of a /64 count as one address, and a /48 is allowed eight times as many
// connections as one address. A connection without an address (the zero Addr), such as one over a
// Unix socket, is limited by user only. So pass the zero Addr for a gateway that doesn't name its
// clients.
//
// The session's context has the values of ctx, but doesn't end with it.
//
// The error is a *chatguard.ThrottledError, ErrConnections, or that of a context that has ended.
// Answer returns what to tell the client. After an error, nothing is open.
func (d *Door) Accept(ctx context.Context, addr netip.Addr) (*Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := &Session{door: d, address: addr}
	if addr.IsValid() {
		s.addressID, s.blockID = AddressKey(addr), AddressBlock(addr)
	}
	now := d.now()
	if err := d.addresses.connect(ctx, chatguard.User{ID: s.addressID}, now); err != nil {
		return nil, err
	}
	if err := d.blocks.connect(ctx, chatguard.User{ID: s.blockID}, now); err != nil {
		return nil, err
	}
	if !d.enterAddress(s) {
		return nil, ErrConnections
	}
	s.ctx, s.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	return s, nil
}

// now reads the Guard's clock. If the clock has gone back since the last call, it rewinds the
// Guards of the gates, because the Guard that owns the clock rewinds only itself.
func (d *Door) now() time.Time {
	d.mu.Lock() // so that a goroutine that is late doesn't look like a clock that has gone back
	defer d.mu.Unlock()
	now := d.guard.Now()
	if now.Before(d.last) {
		for _, g := range []*gate{&d.users, &d.addresses, &d.blocks} {
			if g.connects != nil {
				g.connects.Rewind(now)
			}
		}
	}
	d.last = now
	return now
}

// enterAddress counts an open connection of the session's address, or returns false if too many are
// open.
func (d *Door) enterAddress(s *Session) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.addresses.isFull(s.addressID) || d.blocks.isFull(s.blockID) {
		return false
	}
	d.addresses.enter(s.addressID)
	d.blocks.enter(s.blockID)
	return true
}

// enterUser counts the session as open for its user, unless connections of the user aren't limited.
// It returns ErrConnections if too many are open.
func (d *Door) enterUser(s *Session, user chatguard.User, channelID string) error {
	id := user.ID
	if id == AnonymousID {
		id = ""
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case s.left, s.admitted.Load():
		return errNotPending
	case d.users.isFull(id):
		return ErrConnections
	}
	d.users.enter(id)
	s.userID, s.user, s.channel = id, user, channelID
	s.admitted.Store(true)
	return nil
}

// leave stops counting the session as open. It returns false if it doesn't count any more.
func (d *Door) leave(s *Session) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.left {
		return false
	}
	s.left = true
	d.users.leave(s.userID)
	d.addresses.leave(s.addressID)
	d.blocks.leave(s.blockID)
	return true
}

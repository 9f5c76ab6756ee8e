package chatguard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// ErrReservedID says that Identify has returned an ID that only Anonymous and ByAddress may give: AnonymousID, or one that begins with "address:". A
// user who may choose a name that is the ID would take the place of visitors, or be limited less.
var ErrReservedID = errors.New("the user ID is reserved for chatguard.Anonymous and chatguard.ByAddress: return what they return, and let nobody choose it as a name")

// ErrNobody is what a way to identify returns for a request that names nobody it knows. The middleware answers it with 401.
var ErrNobody = errors.New("the request names nobody known here")

// AnonymousID is the user ID that everyone who isn't signed in shares.
const AnonymousID = "anonymous"

// addressPrefix is what the IDs of ByAddress begin with.
const addressPrefix = "address:"

// guestKey is the key of the guest that a request's context holds behind the middleware.
type guestKey struct{}

// withGuest adds the ID of the visitor whom Anonymous or ByAddress will have identified, and a place for it.
func withGuest(r *http.Request) (*http.Request, *string) {
	id := new(string)
	return r.WithContext(context.WithValue(r.Context(), guestKey{}, id)), id
}

// guest is a visitor with a reserved ID, of which the middleware is told.
func guest(r *http.Request, id string) User {
	if told, ok := r.Context().Value(guestKey{}).(*string); ok {
		*told = id
	}
	return User{ID: id}
}

func isReserved(id string) bool { return id == AnonymousID || strings.HasPrefix(id, addressPrefix) }

// Anonymous identifies everyone as one user, AnonymousID: they share one allowance of messages. Their connections are limited by address only.
func Anonymous(r *http.Request) (User, error) { return guest(r, AnonymousID), nil }

// ByAddress identifies by the address that the request comes from, behind the trusted proxies: "address:192.0.2.7", or "address:2001:db8::/64"
// for IPv6. Everyone behind one address is one user then. A request without an address, from a Unix socket, is an error and no user.
func ByAddress(trusted ...netip.Prefix) func(*http.Request) (User, error) {
	return func(r *http.Request) (User, error) {
		addr := ClientAddress(r, trusted)
		if !addr.IsValid() {
			return User{}, fmt.Errorf("the request comes from %q, which is no address: set its RemoteAddr before it gets here", r.RemoteAddr)
		}
		return guest(r, addressPrefix+AddressKey(addr)), nil
	}
}

// ByKey identifies by an API key in a header: the whole of it, or what follows "Bearer " as in "Authorization: Bearer KEY". It returns
// ErrNobody without a key and for one that isn't known.
//
// The key is a secret and goes nowhere but to known, which has to return a user ID that gives none of it away. Let known look up a hash of the
// key, so that neither what is stored nor how long it takes tells anything.
func ByKey(header string, known func(key string) (User, bool)) func(*http.Request) (User, error) {
	return func(r *http.Request) (User, error) {
		key := strings.TrimSpace(r.Header.Get(header))
		if scheme, bearer, _ := strings.Cut(key, " "); strings.EqualFold(scheme, "Bearer") {
			key = strings.TrimSpace(bearer)
		}
		if key == "" {
			return User{}, ErrNobody
		}
		user, ok := known(key)
		if !ok {
			return User{}, ErrNobody
		}
		return user, nil
	}
}

// FirstOf identifies by the first of several ways that doesn't return ErrNobody. Behind ByKey, a key that is wrong counts as none.
func FirstOf(ways ...func(*http.Request) (User, error)) func(*http.Request) (User, error) {
	return func(r *http.Request) (User, error) {
		for _, way := range ways {
			if user, err := way(r); !errors.Is(err, ErrNobody) {
				return user, err
			}
		}
		return User{}, ErrNobody
	}
}

// ClientAddress returns the address that a request comes from: the last one that no trusted proxy has put there. X-Forwarded-For is believed
// only as far as trusted proxies wrote it. It returns the zero Addr where the request has no address, from a Unix socket say.
func ClientAddress(r *http.Request, trusted []netip.Prefix) netip.Addr {
	addr, _ := parseHop(r.RemoteAddr) // a layer in front of this one may have put it there, without a port
	if !within(addr, trusted) {
		return addr // what the other end has made up isn't even read
	}
	hops := strings.Join(r.Header.Values("X-Forwarded-For"), ",")
	for hops != "" && within(addr, trusted) {
		last := strings.LastIndexByte(hops, ',')
		hop, ok := parseHop(strings.TrimSpace(hops[last+1:]))
		if !ok {
			break
		}
		addr, hops = hop, hops[:max(last, 0)]
	}
	return addr
}

// parseHop reads an address as proxies write it: some of them add the port.
func parseHop(hop string) (netip.Addr, bool) {
	addr, err := netip.ParseAddr(hop)
	if err != nil {
		withPort, portErr := netip.ParseAddrPort(hop)
		addr, err = withPort.Addr(), portErr
	}
	return addr.Unmap(), err == nil
}

func within(addr netip.Addr, prefixes []netip.Prefix) bool {
	for _, prefix := range prefixes {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}

// AddressKey is what an address counts under. Whoever has one IPv6 address has 2^64 of them: those count together, as "2001:db8::/64".
func AddressKey(addr netip.Addr) string {
	if addr = addr.Unmap(); addr.Is6() {
		prefix, _ := addr.Prefix(64) // 64 bits fit every IPv6 address; a zone is dropped
		return prefix.String()
	}
	return addr.String()
}

// AddressBlock is the wider block that an IPv6 address is of, as "2001:db8::/48", because whoever has a /48 has 65,536 of what AddressKey tells apart. It is
// empty for IPv4.
func AddressBlock(addr netip.Addr) string {
	if addr = addr.Unmap(); !addr.Is6() {
		return ""
	}
	prefix, _ := addr.Prefix(48) // 48 bits fit every IPv6 address; a zone is dropped
	return prefix.String()
}

package chatguard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// ErrReservedID says that Identify returned an ID that only Anonymous and ByAddress may return:
// AnonymousID, or an ID that begins with "address:". A user who could choose such an ID could use
// up the allowance of visitors, or avoid some limits.
var ErrReservedID = errors.New("the user ID is reserved for chatguard.Anonymous and chatguard.ByAddress: return the User that they return, and don't let users choose this ID")

// ErrNobody is the error that an identification function returns if the request doesn't identify a
// known user. The middleware then answers with status 401.
var ErrNobody = errors.New("the request doesn't identify a known user")

// AnonymousID is the user ID shared by everyone who isn't signed in.
const AnonymousID = "anonymous"

// addressPrefix is the prefix of the IDs that ByAddress returns.
const addressPrefix = "address:"

// guestKey is the context key for the guest of a request behind the middleware.
type guestKey struct{}

// withGuest adds a place for a visitor's ID to the request's context. It returns the new request
// and a pointer to that place. Anonymous or ByAddress fills in the ID.
func withGuest(r *http.Request) (*http.Request, *string) {
	id := new(string)
	return r.WithContext(context.WithValue(r.Context(), guestKey{}, id)), id
}

// guest returns a visitor with a reserved ID, and records the ID for the middleware.
func guest(r *http.Request, id string) User {
	if told, ok := r.Context().Value(guestKey{}).(*string); ok {
		*told = id
	}
	return User{ID: id}
}

func isReserved(id string) bool { return id == AnonymousID || strings.HasPrefix(id, addressPrefix) }

// Anonymous identifies everyone as the same user, AnonymousID, who has a single allowance of
// messages. Connections of AnonymousID are limited by address only.
func Anonymous(r *http.Request) (User, error) { return guest(r, AnonymousID), nil }

// ByAddress identifies users by the address that the request comes from, as ClientAddress returns
// it. The user ID is "address:192.0.2.7", or "address:2001:db8::/64" for IPv6. Everyone behind one
// address is therefore one user. For a request without an address, such as one over a Unix socket,
// it returns an error and no user.
func ByAddress(trusted ...netip.Prefix) func(*http.Request) (User, error) {
	return func(r *http.Request) (User, error) {
		addr := ClientAddress(r, trusted)
		if !addr.IsValid() {
			return User{}, fmt.Errorf("the request comes from %q, which is not an address: set RemoteAddr in a handler in front of this one", r.RemoteAddr)
		}
		return guest(r, addressPrefix+AddressKey(addr)), nil
	}
}

// ByKey identifies users by an API key in a header. The key is the header's whole value, or the
// part after "Bearer " as in "Authorization: Bearer KEY". It returns ErrNobody if the key is
// missing or unknown.
//
// The key is secret. ByKey passes it only to known, which must return a user ID that reveals
// nothing about the key. Let known look up a hash of the key, so that neither the stored data nor
// the response time reveals the key.
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

// FirstOf calls several identification functions in order, and returns the result of the first one
// that doesn't return ErrNobody. So if ByKey comes first, a request with a wrong key is treated
// like a request without a key.
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

// ClientAddress returns the address that a request comes from: the last address that isn't a
// trusted proxy's. It trusts only those entries of X-Forwarded-For that trusted proxies wrote. It
// returns the zero Addr if the request has no address, for example over a Unix socket.
func ClientAddress(r *http.Request, trusted []netip.Prefix) netip.Addr {
	addr, _ := parseHop(r.RemoteAddr) // has no port if a layer in front has set it without one
	if !isWithin(addr, trusted) {
		return addr // the client may have forged all entries
	}
	hops := strings.Join(r.Header.Values("X-Forwarded-For"), ",")
	for hops != "" && isWithin(addr, trusted) {
		last := strings.LastIndexByte(hops, ',')
		hop, ok := parseHop(strings.TrimSpace(hops[last+1:]))
		if !ok {
			break
		}
		addr, hops = hop, hops[:max(last, 0)]
	}
	return addr
}

// parseHop parses an address as proxies write it, with or without a port.
func parseHop(hop string) (netip.Addr, bool) {
	addr, err := netip.ParseAddr(hop)
	if err != nil {
		withPort, portErr := netip.ParseAddrPort(hop)
		addr, err = withPort.Addr(), portErr
	}
	return addr.Unmap(), err == nil
}

func isWithin(addr netip.Addr, prefixes []netip.Prefix) bool {
	for _, prefix := range prefixes {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}

// AddressKey returns the key under which an address is counted. The owner of one IPv6 address has
// 2^64 addresses, so all of them are counted together, as "2001:db8::/64".
func AddressKey(addr netip.Addr) string {
	if addr = addr.Unmap(); addr.Is6() {
		// prefix is always valid: 64 bits fit every IPv6 address. A zone is dropped.
		prefix, _ := addr.Prefix(64)
		return prefix.String()
	}
	return addr.String()
}

// AddressBlock returns the wider block of an IPv6 address, as "2001:db8::/48". The owner of a /48
// has 65,536 networks, which AddressKey counts separately. The result is empty for IPv4.
func AddressBlock(addr netip.Addr) string {
	if addr = addr.Unmap(); !addr.Is6() {
		return ""
	}
	// prefix is always valid: 48 bits fit every IPv6 address. A zone is dropped.
	prefix, _ := addr.Prefix(48)
	return prefix.String()
}

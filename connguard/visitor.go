package connguard

import (
	"errors"
	"net/netip"
	"strings"
)

// ErrReservedID says that a user's ID and User.Visitor don't fit: AnonymousID and the IDs of
// AddressID need Visitor, and other IDs must not have it. A user who could choose a reserved ID
// could use up the allowance of visitors, or avoid some limits.
var ErrReservedID = errors.New("connguard: AnonymousID and the IDs of AddressID are reserved for users with User.Visitor, and other users must not have it: set it for them only, and don't let users choose these IDs")

// AnonymousID is the user ID shared by all visitors who aren't signed in, and who have a single
// allowance of messages. Their connections are limited by address only.
const AnonymousID = "anonymous"

// addressPrefix is the prefix of the IDs that AddressID returns.
const addressPrefix = "address:"

// AddressID returns the user ID of the visitors from an address, as "address:192.0.2.7". Addresses
// that share the first ipv6Bits bits of an IPv6 address have the same ID, as
// "address:2001:db8::/64"; 64 is usual. Everyone behind one address is therefore one user. The ID
// is empty for the zero Addr, or if ipv6Bits isn't from 0 to 128; a user without an ID isn't
// admitted.
func AddressID(addr netip.Addr, ipv6Bits int) string {
	id := append(make([]byte, 0, 64), addressPrefix...)
	if addr = ownerAddress(addr); addr.Is4() {
		return string(addr.AppendTo(id))
	}
	network, err := addr.Prefix(ipv6Bits)
	if err != nil || !network.IsValid() {
		return ""
	}
	return string(network.AppendTo(id))
}

// IsReservedID reports whether an ID belongs to visitors. Refuse such a name when users register.
func IsReservedID(id string) bool { return id == AnonymousID || strings.HasPrefix(id, addressPrefix) }

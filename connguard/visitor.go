package connguard

import (
	"errors"
	"net/netip"
	"strings"
)

// ErrReservedID says that a user has the ID of a visitor: AnonymousID, or one of AddressID. A user
// who could choose such an ID could use up the allowance of visitors, or avoid some limits.
var ErrReservedID = errors.New("connguard: the user ID is reserved for visitors who aren't signed in: don't let users choose it")

// AnonymousID is the user ID shared by all visitors who aren't signed in, and who have a single
// allowance of messages. Their connections are limited by address only.
const AnonymousID = "anonymous"

// addressPrefix is the prefix of the IDs that AddressID returns.
const addressPrefix = "address:"

// AddressID returns the user ID of the visitors from an address, as "address:192.0.2.7", or
// "address:2001:db8::/64" for IPv6. Everyone behind one address is therefore one user. The ID is
// empty for the zero Addr, and a user without an ID isn't admitted.
func AddressID(addr netip.Addr) string {
	if !addr.IsValid() {
		return ""
	}
	return addressPrefix + AddressKey(addr)
}

// IsReservedID reports whether an ID belongs to visitors. Refuse such a name when users register.
func IsReservedID(id string) bool { return id == AnonymousID || strings.HasPrefix(id, addressPrefix) }

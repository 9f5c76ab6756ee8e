package connguard

import "net/netip"

// nat64 is the well-known prefix under which NAT64 (RFC 6052) writes IPv4 addresses.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// ownerAddress returns the IPv4 address within an IPv4-mapped or NAT64 address, and any other
// address without its zone.
func ownerAddress(addr netip.Addr) netip.Addr {
	if addr = addr.WithZone(""); !nat64.Contains(addr) {
		return addr.Unmap()
	}
	within := addr.As16()
	return netip.AddrFrom4([4]byte(within[12:]))
}

// Network returns the network whose addresses are counted as one: those that share the first
// ipv6Bits bits of an IPv6 address, and otherwise the address alone. An IPv4-mapped address, and
// one of NAT64 (64:ff9b::/96), counts as the IPv4 address within. A zone is dropped. The result is
// the zero Prefix for the zero Addr, or if ipv6Bits isn't from 0 to 128.
func Network(addr netip.Addr, ipv6Bits int) netip.Prefix {
	if addr = ownerAddress(addr); addr.Is4() {
		ipv6Bits = 32
	}
	network, _ := addr.Prefix(ipv6Bits) // the zero Prefix with an error
	return network
}

// AddressKey returns the key under which an address is counted. The owner of an IPv6 address
// usually has its whole /64, so the addresses of a /64 are counted together, as "2001:db8::/64". An
// address of NAT64 (64:ff9b::/96) counts as the IPv4 address within.
func AddressKey(addr netip.Addr) string {
	if addr = ownerAddress(addr); addr.Is6() {
		// prefix is always valid: 64 bits fit every IPv6 address.
		prefix, _ := addr.Prefix(64)
		return prefix.String()
	}
	return addr.String()
}

// AddressBlock returns the wider block of an IPv6 address, as "2001:db8::/48". The owner of a /48
// has 65,536 networks, which AddressKey counts separately. The result is empty for IPv4.
func AddressBlock(addr netip.Addr) string {
	if addr = ownerAddress(addr); !addr.Is6() {
		return ""
	}
	// prefix is always valid: 48 bits fit every IPv6 address.
	prefix, _ := addr.Prefix(48)
	return prefix.String()
}

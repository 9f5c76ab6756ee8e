package httpguard

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// ClientAddress returns the address that a request comes from: the last address that isn't a
// trusted proxy's. It trusts only those entries of X-Forwarded-For that trusted proxies wrote, and
// doesn't read Forwarded (RFC 7239). It returns the zero Addr if the request has no address, for
// example over a Unix socket.
func ClientAddress(r *http.Request, trusted []netip.Prefix) netip.Addr {
	addr, _ := parseHop(r.RemoteAddr) // has no port if a layer in front has set it without one
	if !isWithin(addr, trusted) {
		return addr // the client may have forged all entries
	}
	hops := strings.Join(r.Header.Values("X-Forwarded-For"), ",")
	for hops != "" && isWithin(addr, trusted) {
		last := strings.LastIndexByte(hops, ',')
		text := strings.TrimSpace(hops[last+1:])
		hops = hops[:max(last, 0)]
		if text == "" {
			continue // a list may have empty elements
		}
		hop, ok := parseHop(text)
		if !ok {
			break
		}
		addr = hop
	}
	return addr
}

// parseHop parses an address as proxies write it: with or without a port, brackets around IPv6, and
// quotes.
func parseHop(hop string) (netip.Addr, bool) {
	if len(hop) > 1 && hop[0] == '"' && hop[len(hop)-1] == '"' {
		hop = hop[1 : len(hop)-1]
	}
	if strings.HasPrefix(hop, "[") && strings.HasSuffix(hop, "]") && strings.Contains(hop, ":") {
		hop = hop[1 : len(hop)-1]
	}
	addr, err := netip.ParseAddr(hop)
	if err != nil {
		withPort, portErr := netip.ParseAddrPort(hop)
		addr, err = withPort.Addr(), portErr
	}
	return addr.Unmap(), err == nil
}

func isWithin(addr netip.Addr, prefixes []netip.Prefix) bool {
	return slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// nat64 is the well-known prefix under which NAT64 (RFC 6052) writes IPv4 addresses.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// ownerAddress returns the IPv4 address within an IPv4-mapped or NAT64 address, and any other
// address unchanged.
func ownerAddress(addr netip.Addr) netip.Addr {
	if !nat64.Contains(addr) {
		return addr.Unmap()
	}
	within := addr.As16()
	return netip.AddrFrom4([4]byte(within[12:]))
}

// AddressKey returns the key under which an address is counted. The owner of an IPv6 address
// usually has its whole /64, so the addresses of a /64 are counted together, as "2001:db8::/64". An
// address of NAT64 (64:ff9b::/96) counts as the IPv4 address within.
func AddressKey(addr netip.Addr) string {
	if addr = ownerAddress(addr); addr.Is6() {
		// prefix is always valid: 64 bits fit every IPv6 address. A zone is dropped.
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
	// prefix is always valid: 48 bits fit every IPv6 address. A zone is dropped.
	prefix, _ := addr.Prefix(48)
	return prefix.String()
}

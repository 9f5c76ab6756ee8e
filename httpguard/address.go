package httpguard

import (
	"net/http"
	"net/netip"
	"strings"
)

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

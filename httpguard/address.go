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

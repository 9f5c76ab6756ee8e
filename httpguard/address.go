package httpguard

import (
	"cmp"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// AddressOptions say how to find the address that a request comes from. A nil *AddressOptions is the
// same as the zero value.
type AddressOptions struct {
	// TrustedProxies lists the proxies whose X-Forwarded-For is trusted. If the list lacks a proxy
	// in front of this server, all users of that proxy seem to have one address. If the list
	// contains an address that isn't a proxy's, users at that address can forge other addresses.
	// Requests that a proxy sends over a Unix socket have no address, unless a layer in front sets
	// the request's RemoteAddr.
	TrustedProxies []netip.Prefix
}

// ClientAddress returns the address that a request comes from: the last address that isn't a
// trusted proxy's. It trusts only those entries of X-Forwarded-For that trusted proxies wrote, and
// doesn't read Forwarded (RFC 7239). It returns the zero Addr if the request has no address, for
// example over a Unix socket.
func ClientAddress(r *http.Request, opts *AddressOptions) netip.Addr {
	trusted := cmp.Or(opts, &AddressOptions{}).TrustedProxies
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

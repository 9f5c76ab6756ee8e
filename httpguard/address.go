package httpguard

import (
	"cmp"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/chatguard/chatguard/connguard"
)

// AddressOptions say how to find the address that a request comes from, and how to count it. A nil
// *AddressOptions is the same as the zero value: the address of the connection counts. Don't change
// the options while they are in use.
type AddressOptions struct {
	// TrustedProxies lists the proxies in front of this server. They name the client in a header.
	// If the list lacks a proxy, all users of that proxy seem to have one address. If the list
	// contains an address that isn't a proxy's, users at that address can forge other addresses.
	// Requests that a proxy sends over a Unix socket have no address, unless a layer in front sets
	// the request's RemoteAddr.
	TrustedProxies []netip.Prefix

	// Header is the header in which the proxies name the client: "X-Forwarded-For", "Forwarded"
	// (RFC 7239), or a header with a single address, such as "X-Real-IP" or "CF-Connecting-IP".
	// Empty means X-Forwarded-For. No other header is read, because a client can send those that
	// the proxies don't write. A list is read from its end, up to the first address that isn't a
	// proxy's. A header with a single address must be replaced by the proxy; if there are several,
	// or if the text isn't an address, the address is the proxy's.
	Header string

	// IPv6Bits is how many leading bits of an IPv6 address tell users apart, from 1 to 128. 0 means
	// 64: a /64 is usually the smallest network that has a single owner. Only ByAddress uses it;
	// with another number, its func returns an error for each request.
	IPv6Bits int
}

// bits returns IPv6Bits or its default.
func (o *AddressOptions) bits() int {
	if o == nil || o.IPv6Bits == 0 {
		return 64
	}
	return o.IPv6Bits
}

// trusts reports whether the address is a trusted proxy's.
func (o *AddressOptions) trusts(addr netip.Addr) bool {
	return o != nil && isWithin(addr.WithZone(""), o.TrustedProxies)
}

// ClientAddress returns the address that a request comes from: that of the connection, or the one
// in AddressOptions.Header if the connection is a trusted proxy's. It returns the zero Addr if the
// request has no address, for example over a Unix socket.
func ClientAddress(r *http.Request, opts *AddressOptions) netip.Addr {
	addr, _ := parseHop(r.RemoteAddr) // has no port if a layer in front has set it without one
	if !opts.trusts(addr) {
		return addr // the client may have forged all headers
	}
	name := cmp.Or(opts.Header, "X-Forwarded-For")
	values := r.Header.Values(name)
	switch {
	case strings.EqualFold(name, "Forwarded"):
		return opts.lastHop(addr, strings.Join(values, ","), forwardedFor)
	case strings.EqualFold(name, "X-Forwarded-For"):
		return opts.lastHop(addr, strings.Join(values, ","), parseHop)
	case len(values) == 1: // the client may have sent one of several
		if client, ok := parseHop(strings.TrimSpace(values[0])); ok {
			return client
		}
	}
	return addr
}

// lastHop returns the last address that isn't a trusted proxy's, given the proxy at the end and the
// list of hops before it. It reads the list from its end, so what a client wrote at the beginning
// can't change how the rest is read.
func (o *AddressOptions) lastHop(addr netip.Addr, hops string, parse func(string) (netip.Addr, bool)) netip.Addr {
	for hops != "" && o.trusts(addr) {
		var text string
		if hops, text = cutLast(hops, ','); text == "" {
			continue // a list may have empty elements
		}
		hop, ok := parse(text)
		if !ok {
			break
		}
		addr = hop
	}
	return addr
}

// cutLast cuts the part after the last separator outside quotes from a list.
func cutLast(list string, separator byte) (before, last string) {
	quoted := false
	for i := len(list) - 1; i >= 0; i-- {
		switch c := list[i]; {
		case c == '"':
			quoted = !quoted
		case c == separator && !quoted:
			return list[:i], strings.TrimSpace(list[i+1:])
		}
	}
	return "", strings.TrimSpace(list)
}

// forwardedFor returns the address in an element of the header Forwarded. An element without an
// address, such as for=unknown, or with several is invalid.
func forwardedFor(element string) (addr netip.Addr, ok bool) {
	for element != "" {
		var pair string
		element, pair = cutLast(element, ';')
		name, value, _ := strings.Cut(pair, "=")
		if !strings.EqualFold(name, "for") {
			continue
		}
		if ok {
			return addr, false
		}
		if addr, ok = parseHop(value); !ok {
			return addr, false
		}
	}
	return addr, ok
}

// parseHop parses an address as servers and proxies write it: with or without a port, brackets, and
// quotes.
func parseHop(hop string) (addr netip.Addr, ok bool) {
	if len(hop) > 1 && hop[0] == '"' && hop[len(hop)-1] == '"' {
		hop = hop[1 : len(hop)-1]
	}
	port := ""
	if rest, bracket := strings.CutPrefix(hop, "["); bracket {
		if hop, port, ok = strings.Cut(rest, "]"); !ok {
			return addr, false
		}
	} else if colon := strings.IndexByte(hop, ':'); colon >= 0 && colon == strings.LastIndexByte(hop, ':') {
		hop, port = hop[:colon], hop[colon:]
	}
	addr, err := netip.ParseAddr(hop)
	if err != nil || !isPort(port) {
		return netip.Addr{}, false
	}
	return addr.Unmap(), true
}

// isPort reports whether the text after an address is empty, or a colon with a port: up to five
// digits, or a name that hides them (RFC 7239, section 6.3).
func isPort(text string) bool {
	port, colon := strings.CutPrefix(text, ":")
	if !colon || strings.HasPrefix(port, "_") {
		return text == "" || colon
	}
	for i := range len(port) {
		if port[i] < '0' || port[i] > '9' {
			return false
		}
	}
	return port != "" && len(port) <= 5
}

// FromNetworks returns a func that reports whether a request comes from one of the networks. As
// LimitOptions.Skip, it means that requests from there are never limited. An address under NAT64
// (64:ff9b::/96) is in the networks of its IPv4 address, too. The address of a trusted proxy is in
// no network, because it is all that is known of a client that the proxy doesn't name.
func FromNetworks(networks []netip.Prefix, opts *AddressOptions) func(*http.Request) bool {
	return func(r *http.Request) bool {
		addr := ClientAddress(r, opts).WithZone("")
		return !opts.trusts(addr) && (isWithin(addr, networks) || isWithin(connguard.Network(addr, 128).Addr(), networks))
	}
}

// isWithin reports whether an address is in one of the networks. A network of IPv4 addresses may be
// written as IPv4-mapped: ::ffff:192.0.2.0/120 is 192.0.2.0/24.
func isWithin(addr netip.Addr, networks []netip.Prefix) bool {
	return slices.ContainsFunc(networks, func(p netip.Prefix) bool {
		if p.Addr().Is4In6() && p.Bits() >= 96 {
			p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
		}
		return p.Contains(addr)
	})
}

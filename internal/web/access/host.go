package access

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/chatguard/chatguard/httpguard"
)

// isKnownHost reports whether the request is addressed to one of our host names. Another site's
// page can make its own host name resolve to this machine (DNS rebinding), but it cannot change the
// Host that the browser sends.
func (s Site) isKnownHost(r *http.Request) bool {
	host, listens := bareHost(r.Host), bareHost(s.Listen)
	switch {
	case isLoopback(host):
		return true
	case s.PublicURL != nil && strings.EqualFold(host, s.PublicURL.Hostname()):
		return true
	case isWildcard(listens):
		_, err := netip.ParseAddr(host) // an IP address cannot be rebound
		return err == nil
	}
	return strings.EqualFold(host, listens)
}

// isSecure reports whether the browser's connection is encrypted.
func (s Site) isSecure(r *http.Request) bool {
	return r.TLS != nil || s.PublicURL != nil && s.PublicURL.Scheme == "https" && strings.EqualFold(bareHost(r.Host), s.PublicURL.Hostname())
}

// IsLocal reports whether the request comes from this machine, and has no proxy's header. If there
// is a PublicURL, it returns false, because a proxy on this machine may forward requests without
// naming the client and with a loopback host.
func (s Site) IsLocal(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	return err == nil && isLoopback(host) && s.PublicURL == nil && !isProxied(r)
}

// isProxied reports whether the request has a proxy's header, even an empty one.
func isProxied(r *http.Request) bool {
	for name := range r.Header {
		switch {
		case name == "Forwarded", name == "Via", name == "X-Real-Ip", name == "True-Client-Ip",
			strings.HasPrefix(name, "X-Forwarded-"), strings.HasPrefix(name, "Cf-"):
			return true
		}
	}
	return false
}

// isTLSOnly reports whether browsers should use only TLS for the request's host. That instruction
// affects everything on the host. It is therefore sent only if the whole host belongs to the
// dashboard. Browsers ignore it for IP addresses, and on localhost it would affect every other
// program.
func (s Site) isTLSOnly(r *http.Request) bool {
	host := bareHost(r.Host)
	_, notAddress := netip.ParseAddr(host)
	return s.isSecure(r) && s.mount() == "/" && notAddress != nil && !isLoopback(host)
}

// IsFromProxy reports whether the request has come over a connection of one of our proxies.
func (s Site) IsFromProxy(r *http.Request) bool { return s.comesFrom(r, proxyOrigin) }

// comesFrom reports whether the request has come over a connection from an origin.
func (s Site) comesFrom(r *http.Request, from origin) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && s.originOf(peer.Addr().Unmap()) == from
}

// Client returns the address that the request comes from: the last forwarded address that isn't one
// of our proxies.
func (s Site) Client(r *http.Request) netip.Addr {
	return httpguard.ClientAddress(r, &httpguard.AddressOptions{TrustedProxies: s.TrustedProxies})
}

// bareHost returns the host without its port and brackets.
func bareHost(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

package web

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/chatguard/chatguard"
)

// knowsHost reports whether the request is addressed to a name of ours. A page of somebody else's can point a name of its own at this
// machine (DNS rebinding), but it can't change the name that the browser then asks for.
func (s Site) knowsHost(r *http.Request) bool {
	host, listens := bareHost(r.Host), bareHost(s.Listen)
	switch {
	case isLoopback(host):
		return true
	case s.PublicURL != nil && strings.EqualFold(host, s.PublicURL.Hostname()):
		return true
	case isWildcard(listens):
		_, err := netip.ParseAddr(host) // an address is no name that could point elsewhere
		return err == nil
	}
	return strings.EqualFold(host, listens)
}

// isSecure reports whether the browser's connection is encrypted.
func (s Site) isSecure(r *http.Request) bool {
	return r.TLS != nil || s.PublicURL != nil && s.PublicURL.Scheme == "https" && strings.EqualFold(bareHost(r.Host), s.PublicURL.Hostname())
}

// isLocal reports whether the request comes from this machine. With a PublicURL it never does: a proxy on this machine may pass on what it is asked,
// name nobody it asks for, and ask for a loopback name.
func (s Site) isLocal(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	return err == nil && isLoopback(host) && s.PublicURL == nil && !isProxied(r)
}

// isProxied reports whether a proxy has left a header, with a value or without.
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

// keepsTLS reports whether browsers may be told to ask for the request's host over TLS only. That holds for all of a host, so it is said only if
// the host is the dashboard's alone. Browsers ignore it for addresses, and on localhost it would hold for every other program there.
func (s Site) keepsTLS(r *http.Request) bool {
	host := bareHost(r.Host)
	_, notAddress := netip.ParseAddr(host)
	return s.isSecure(r) && s.mount() == "/" && notAddress != nil && !isLoopback(host)
}

// client is the address that the request comes from: the last one that no proxy of ours has put there.
func (s Site) client(r *http.Request) netip.Addr {
	return chatguard.ClientAddress(r, s.TrustedProxies)
}

// bareHost is the host without its port and brackets.
func bareHost(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

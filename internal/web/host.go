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

// isLocal reports whether the request comes from this machine, and not through a proxy on it: one that names nobody it asks for still asks for the
// public name.
func (s Site) isLocal(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	direct := r.Header.Get("X-Forwarded-For") == "" && r.Header.Get("Forwarded") == "" && (s.PublicURL == nil || isLoopback(bareHost(r.Host)))
	return err == nil && isLoopback(host) && direct
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

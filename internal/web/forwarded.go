package web

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
)

// noteProxy logs, once, that requests come through a proxy on this machine that isn't trusted. Where the dashboard is part of another site, that
// site knows its proxies.
func (s *Server) noteProxy(r *http.Request) {
	if s.opts.Authorize != nil || !s.opts.Site.isUntrustedProxy(r) {
		return
	}
	s.proxied.Do(func() {
		s.opts.Log.Warn("requests come through a proxy on this machine that isn't trusted: everybody behind it counts as one address",
			"fix", `set web.trusted_proxies to ["127.0.0.1", "::1"]`)
	})
}

// isUntrustedProxy reports whether a request comes from this machine in somebody else's name, and that isn't believed.
func (s Site) isUntrustedProxy(r *http.Request) bool {
	if r.Header.Get("X-Forwarded-For") == "" {
		return false
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	peer, err := netip.ParseAddr(host)
	peer = peer.Unmap()
	return err == nil && peer.IsLoopback() && !slices.ContainsFunc(s.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(peer) })
}

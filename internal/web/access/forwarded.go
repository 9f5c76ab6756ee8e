package access

import "net/http"

// noteProxy logs once that requests come through an untrusted proxy on this machine. It does
// nothing if the dashboard is part of another site, because that site handles its own proxies.
func (a *Authenticator) noteProxy(r *http.Request) {
	if a.opts.Authorize != nil || !a.opts.Site.isUntrustedProxy(r) {
		return
	}
	a.proxied.Do(func() {
		a.opts.Log.Warn("requests come through a proxy on this machine that isn't trusted: all clients behind it count as one address",
			"fix", `set web.trusted_proxies to ["127.0.0.1", "::1"]`)
	})
}

// isUntrustedProxy reports whether a request from this machine names another client address in a
// header that isn't trusted.
func (s Site) isUntrustedProxy(r *http.Request) bool {
	return r.Header.Get("X-Forwarded-For") != "" && s.comesFrom(r, localOrigin)
}

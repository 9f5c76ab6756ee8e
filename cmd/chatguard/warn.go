package main

import (
	"slices"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
)

// warnOf logs what in a configuration doesn't do what it seems to.
func (a *app) warnOf(c config.Config) {
	a.warnOfStrangers(c)
	if untrustedProxy(c.Web) {
		a.log.Warn(untrustedProxyProblem, "file", c.Path, "fix", untrustedProxyFix)
	}
	if enforces(c) && !hasToken(c) {
		a.log.Warn(noTokenYet, "file", c.Path)
	}
}

// noTokenYet is what is said of a bot that is to enforce and has no token.
const noTokenYet = "Not enforcing yet: the bot has no token. Run `chatguard login`."

// enforces reports whether any policy of Twitch's channels enforces.
func enforces(c config.Config) bool {
	if len(c.Twitch.Channels) == 0 {
		return false
	}
	_, strangers := unlisted(c)
	for name, p := range c.Channels {
		if p.Mode == chatguard.Enforce && !c.IsChecked(name) && !slices.Contains(strangers, name) {
			return true
		}
	}
	return c.Policy.Mode == chatguard.Enforce
}

// What is said of a proxy that isn't trusted.
const (
	untrustedProxyProblem = "web.public_url is set, but web.trusted_proxies is empty: everybody who comes through the proxy counts as one address"
	untrustedProxyFix     = `set web.trusted_proxies to the proxy's address, such as ["127.0.0.1"] for one on this machine`
)

// untrustedProxy reports whether people come through a proxy whose word on their addresses isn't believed. A dashboard with a certificate of its own
// needs no proxy.
func untrustedProxy(w config.Web) bool {
	return w.PublicURL != "" && len(w.TrustedProxies) == 0 && w.TLSCert == ""
}

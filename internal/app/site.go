package app

import (
	"net"
	"net/url"
	"strings"

	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/twitchsignin"
)

// Site returns the configured address of the dashboard.
func Site(w config.Web) access.Site {
	s := access.Site{Listen: w.Listen, TLSCert: w.TLSCert, TLSKey: w.TLSKey, Token: string(w.Token)}
	if w.PublicURL != "" {
		s.PublicURL, _ = url.Parse(w.PublicURL) // validated with the configuration
	}
	for _, p := range w.TrustedProxies {
		s.TrustedProxies = append(s.TrustedProxies, p.Prefix)
	}
	return s
}

// SignInObstacle returns why nobody can sign in with Twitch although that is switched on. It is nil
// if nothing is in the way.
func SignInObstacle(c config.Config) *twitchsignin.Obstacle {
	if !c.Web.TwitchSignIn {
		return nil
	}
	if len(c.Twitch.Channels) == 0 && len(c.Web.Owners) == 0 {
		return &twitchsignin.Obstacle{Problem: "there is no owner, and no Twitch channel whose moderators could sign in", Fix: "list owners in web.owners, or channels in twitch.channels"}
	}
	_, obstacle := twitchsignin.WayOf(Site(c.Web), c.Twitch.ClientID, string(c.Twitch.ClientSecret))
	return obstacle
}

// ViewerObstacle returns why no viewer can sign in with Twitch although the page for viewers is
// switched on. It is nil if nothing is in the way.
func ViewerObstacle(c config.Config) *twitchsignin.Obstacle {
	if !c.Web.ViewerPage {
		return nil
	}
	way, obstacle := twitchsignin.WayOf(Site(c.Web), c.Twitch.ClientID, string(c.Twitch.ClientSecret))
	if way == twitchsignin.ByDevice {
		return &twitchsignin.Obstacle{Problem: "there is no client secret", Fix: "set CHATGUARD_TWITCH_CLIENT_SECRET to that of your Twitch application"}
	}
	return obstacle
}

// SignInRedirect returns the address that must be registered with the Twitch application, so that
// people can sign in by authorization code. It is empty if they can't sign in, or only by device
// code.
func SignInRedirect(c config.Config) string {
	site := Site(c.Web)
	if way, _ := twitchsignin.WayOf(site, c.Twitch.ClientID, string(c.Twitch.ClientSecret)); way != twitchsignin.ByCode {
		return ""
	}
	return browserAddress(site, "") + twitchsignin.Callback
}

// browserAddress returns the address at which browsers begin a sign-in with Twitch. addr is the
// listening address; empty means the configured one. Twitch sends people back to https addresses
// and to http://localhost, but to no other name of this machine.
func browserAddress(site access.Site, addr string) string {
	address := site.Address(addr)
	if !site.IsPrivate() {
		return address
	}
	_, port, err := net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(address, "http://"), "/"))
	if err != nil {
		return address
	}
	return "http://localhost:" + port + "/"
}

package web

import (
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// Site is where the dashboard is reached and how it is protected: the [web] table of the configuration, which has checked it, and
// CHATGUARD_WEB_TOKEN. The zero value can't be listened on.
type Site struct {
	Listen         string         // host:port
	TLSCert        string         // file of the certificate chain, PEM; empty means plain HTTP
	TLSKey         string         // file of its key, PEM
	PublicURL      *url.URL       // behind a proxy: the address people use; its path is the mount path. Nil without one
	TrustedProxies []netip.Prefix // whose X-Forwarded-For is believed
	Token          string         // the owner's token; empty means that only sign-in links open the dashboard
	Log            *slog.Logger   // of Open; nil means slog.Default
}

// Link is the address that signs in with a one-time code. addr is the address listened on; empty means Listen.
func (s Site) Link(addr, code string) string {
	return s.Address(addr) + "#signin=" + code
}

// Address is the dashboard's address for people, with a slash at its end. addr is as in Link.
func (s Site) Address(addr string) string {
	if s.PublicURL != nil {
		return strings.TrimSuffix(s.PublicURL.String(), "/") + "/"
	}
	if addr == "" {
		addr = s.Listen
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if isWildcard(host) {
		host = "127.0.0.1"
	}
	scheme := "http"
	if s.TLSCert != "" {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(host, port) + "/"
}

// mount is the path that the dashboard is reached below, and so its cookie's.
func (s Site) mount() string {
	if s.PublicURL == nil {
		return "/"
	}
	return "/" + strings.Trim(s.PublicURL.EscapedPath(), "/")
}

// isLoopback reports whether only this machine can reach the host.
func isLoopback(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().IsLoopback()
	}
	return strings.EqualFold(host, "localhost")
}

// isWildcard reports whether listening on the host means every address of this machine.
func isWildcard(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "" || err == nil && addr.IsUnspecified()
}

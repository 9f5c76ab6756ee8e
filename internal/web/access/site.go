package access

import (
	"cmp"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// Site describes how the dashboard is reached and protected. It contains the [web] table of the
// configuration, already validated, and CHATGUARD_WEB_TOKEN. A zero Site cannot listen.
type Site struct {
	Listen string // host:port
	// TLSCert is the file of the certificate chain in PEM format. If it is empty, the Site uses
	// plain HTTP.
	TLSCert string
	TLSKey  string // file of the key in PEM format
	// PublicURL is the address that people use behind a proxy. Its path is the mount path. It is
	// nil without a proxy.
	PublicURL      *url.URL
	TrustedProxies []netip.Prefix // proxies whose X-Forwarded-For is trusted
	// Token is the owner's token. If it is empty, the owner has none.
	Token string
	Log   *slog.Logger // used by Open; nil means slog.Default
}

// Link returns the address that signs in with a one-time code. addr is the listening address; empty
// means Listen.
func (s Site) Link(addr, code string) string {
	return s.Address(addr) + "#signin=" + code
}

// Address returns the dashboard's address for people, with a trailing slash. addr is as in Link.
func (s Site) Address(addr string) string {
	if s.PublicURL != nil {
		return strings.TrimSuffix(s.PublicURL.String(), "/") + "/"
	}
	addr = cmp.Or(addr, s.Listen)
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

// mount returns the path that the dashboard is mounted at, which is also the path of the
// dashboard's cookies.
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

// isWildcard reports whether listening on host means all addresses of this machine.
func isWildcard(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "" || err == nil && addr.IsUnspecified()
}

// IsPrivate reports whether only this machine can reach the Site, and without encryption or a
// proxy.
func (s Site) IsPrivate() bool {
	return isLoopback(bareHost(s.Listen)) && s.TLSCert == "" && s.PublicURL == nil
}

package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// address refuses what is no host and port. The host may be empty: all of this machine's addresses.
func address(text string, leastPort uint64) error {
	_, port, err := net.SplitHostPort(text)
	if err == nil {
		var n uint64
		if n, err = strconv.ParseUint(port, 10, 16); n < leastPort {
			err = strconv.ErrRange
		}
	}
	if err != nil {
		return fmt.Errorf(`%q is no address (want host and port, such as "127.0.0.1:8080")`, text)
	}
	return nil
}

// schemed refuses what is no URL with a host and one of the schemes.
func schemed(text string, schemes ...string) error {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || !slices.Contains(schemes, u.Scheme) {
		return fmt.Errorf("%q is no URL (want %s://…)", text, strings.Join(schemes, "://… or "))
	}
	return nil
}

func publicURL(w Web) error {
	if w.PublicURL == "" {
		return nil
	}
	if err := schemed(w.PublicURL, "https", "http"); err != nil {
		return err
	}
	u, err := url.Parse(w.PublicURL)
	switch {
	case err != nil:
		return err
	case u.User != nil:
		return errors.New("there is a user or a password in it: everybody who signs in would see them; leave them out")
	case strings.Contains(u.EscapedPath(), ";"):
		return fmt.Errorf(`there is a ";" in the path of %q, which ends a cookie's: take another path`, w.PublicURL)
	}
	if !w.Insecure && !strings.HasPrefix(w.PublicURL, "https://") {
		return fmt.Errorf("%q lets people sign in in the clear: set the https address of a proxy, or say insecure = true in [web]", w.PublicURL)
	}
	return nil
}

func paired(w Web) error {
	if (w.TLSCert == "") != (w.TLSKey == "") {
		return errors.New("tls_cert and tls_key go together: set both or neither")
	}
	return nil
}

// CheckListen refuses an address that is none, and one that lets other machines send a password in the clear. The error says so in one line.
func (w Web) CheckListen() error {
	if err := address(w.Listen, 0); err != nil {
		return err
	}
	if !isLoopback(w.Listen) && !w.Insecure && w.TLSCert == "" && !strings.HasPrefix(w.PublicURL, "https://") {
		return fmt.Errorf("%s is open to other machines: set tls_cert and tls_key, or public_url to a proxy's https address, "+
			"or listen on 127.0.0.1, or say insecure = true in [web]", w.Listen)
	}
	return nil
}

// CheckServed refuses a configuration that would let other machines in without a password. It is for whoever serves the dashboard: a command beside it
// needn't know the password.
func (c *Config) CheckServed() error {
	at := place{"web", "token"}
	if isLoopback(c.Web.Listen) || c.Web.Token != "" {
		return nil
	}
	return &Error{File: c.Path, Key: "web.listen", Problem: fmt.Sprintf(
		"%s is open to other machines: set %s to a long random text, or listen on 127.0.0.1", c.Web.Listen, variable(at))}
}

func isLoopback(listen string) bool {
	host, _, _ := net.SplitHostPort(listen)
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

func filled(path string) error {
	if path == "" {
		return errors.New(`want the path of a file, such as "chatguard.db"`)
	}
	return nil
}

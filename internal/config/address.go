package config

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// checkAddress returns an error unless text is a host and a port. The host may be empty, which
// means all addresses of this machine.
func checkAddress(text string, leastPort uint64) error {
	_, port, err := net.SplitHostPort(text)
	if err == nil {
		var n uint64
		if n, err = strconv.ParseUint(port, 10, 16); n < leastPort {
			err = strconv.ErrRange
		}
	}
	if err != nil {
		return fmt.Errorf(`%q is not a valid address (want host:port, such as "127.0.0.1:8080")`, text)
	}
	return nil
}

// checkURL returns an error unless text is a URL with a host and one of the schemes.
func checkURL(text string, schemes ...string) error {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || !slices.Contains(schemes, u.Scheme) {
		return fmt.Errorf("%q is not a URL (want %s://…)", text, strings.Join(schemes, "://… or "))
	}
	return nil
}

// CheckPublicURL returns an error if PublicURL is set and invalid. The error has one line.
func (w Web) CheckPublicURL() error {
	if w.PublicURL == "" {
		return nil
	}
	if err := checkURL(w.PublicURL, "https", "http"); err != nil {
		return err
	}
	u, err := url.Parse(w.PublicURL)
	switch {
	case err != nil:
		return err
	case u.User != nil:
		return errors.New("it contains a user or a password, which everyone who signs in would see: leave them out")
	case strings.Contains(u.EscapedPath(), ";"):
		return fmt.Errorf(`there is a ";" in the path of %q, which would end the cookie's path: choose another path`, w.PublicURL)
	}
	if !w.Insecure && u.Scheme != "https" && !isLoopback(u.Host) {
		return fmt.Errorf("%q lets people sign in unencrypted: set the https address of a proxy, or set insecure = true in [web]", w.PublicURL)
	}
	return nil
}

func checkTLSFiles(cert, key string) error {
	if (cert == "") != (key == "") {
		return errors.New("tls_cert and tls_key go together: set both or neither")
	}
	return nil
}

// CheckListen returns an error if the address is invalid, or if other machines could send a
// password to it unencrypted. The error has one line.
func (w Web) CheckListen() error {
	if err := checkAddress(w.Listen, 0); err != nil {
		return err
	}
	if !isLoopback(w.Listen) && !w.Insecure && w.TLSCert == "" && !strings.HasPrefix(w.PublicURL, "https://") {
		return fmt.Errorf("%s is open to other machines: set tls_cert and tls_key, or public_url to a proxy's https address, "+
			"or listen on 127.0.0.1, or set insecure = true in [web]", w.Listen)
	}
	return nil
}

// CheckServed returns an error if the configuration would admit other machines without a password.
// Only a command that serves the dashboard calls it: other commands need not know the password.
func (c *Config) CheckServed() error {
	if err := c.Web.checkToken(); err != nil {
		return &Error{File: c.Path, Key: "web.listen", Problem: err.Error()}
	}
	return nil
}

// SetListen replaces the dashboard's address by that of a listener from another program. who names
// that program in errors. SetListen refuses the same addresses as CheckListen and CheckServed.
func (c *Config) SetListen(address, who string) error {
	c.Web.Listen = address
	if err := cmp.Or(c.Web.CheckListen(), c.Web.checkToken()); err != nil {
		return &Error{Key: who, Problem: err.Error()}
	}
	return nil
}

// checkToken returns an error if other machines can reach the dashboard, and it has no password.
func (w Web) checkToken() error {
	if isLoopback(w.Listen) || w.Token != "" {
		return nil
	}
	return fmt.Errorf("%s is open to other machines: set %s to a long random text, or listen on 127.0.0.1", w.Listen, variable(place{"web", "token"}))
}

// isLoopback reports whether an address, with or without a port, belongs to this machine only.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

func checkFilePath(path string) error {
	if path == "" {
		return errors.New(`want the path of a file, such as "chatguard.db"`)
	}
	return nil
}

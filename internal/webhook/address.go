package webhook

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"

	"github.com/chatguard/chatguard/internal/hostile"
)

// Address is the URL of a webhook. Anyone who knows it can usually write there, so its text forms
// hide most of it.
type Address string

// maxAddress is the maximum length of an address, in bytes.
const maxAddress = 2000

// shownEnd is how many characters at the end of an address are shown. None are shown if fewer than
// leastHidden characters would stay hidden.
const (
	shownEnd    = 4
	leastHidden = 12
)

// Host returns the host of the address, with the port if it has one.
func (a Address) Host() string {
	u, err := url.Parse(string(a))
	if err != nil {
		return ""
	}
	return hostile.OneLine(hostile.Visible(u.Host), mostName)
}

// String returns the address's scheme and host, and its last four characters if enough of it stays
// hidden.
func (a Address) String() string {
	u, err := url.Parse(string(a))
	if err != nil || u.Host == "" {
		return "hidden"
	}
	text := u.Scheme + "://" + a.Host() + "/…"
	if hidden := u.RequestURI(); len(hidden) >= leastHidden+shownEnd && u.Fragment == "" {
		text += hidden[len(hidden)-shownEnd:]
	}
	return hostile.Visible(text)
}

// MarshalText returns the text of String.
func (a Address) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// check returns an error unless a webhook can have the address. The error is a sentence for people
// and doesn't contain the address. Names are looked up only when something is sent.
func (a Address) check(allowPrivate bool) error {
	u, err := url.Parse(string(a))
	switch {
	case len(a) > maxAddress:
		return errors.New("the address is too long")
	case err != nil || !hostile.IsPlain(string(a)) || strings.ContainsAny(string(a), " \\") || u.Opaque != "" || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("the address is not a URL: want https://…")
	case u.User != nil:
		return errors.New("the address has a user or a password before the host: leave them out")
	case u.Fragment != "":
		return errors.New("the address has a part after #, which no server receives: leave it out")
	case allowPrivate:
		return nil
	case u.Scheme != "https":
		return errors.New("the address begins with http, so that others could read along: use https")
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil {
		return checkPublic(ip)
	}
	if name := strings.TrimSuffix(strings.ToLower(u.Hostname()), "."); name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return &privateError{host: name}
	}
	return nil
}

// CheckAddress returns an error unless a hook of the configuration can have the address. The error
// is a sentence for people and doesn't contain the address.
func CheckAddress(a Address, allowPrivate bool) error { return a.check(allowPrivate) }

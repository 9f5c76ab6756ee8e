package config

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
)

const day = 24 * time.Hour

// Retention is how long something is kept. As text it is a number of days or what chatguard.ParseDuration reads: "30d", "12h".
type Retention time.Duration

// UnmarshalText reads a length of time that is greater than zero.
func (r *Retention) UnmarshalText(text []byte) error {
	d, err := chatguard.ParseDuration(string(text))
	if err != nil || d <= 0 {
		return fmt.Errorf(`%q is no length of time above 0 (want "30d", "12h")`, text)
	}
	*r = Retention(d)
	return nil
}

// Size is an amount of memory in bytes. As text it is a number of mebibytes or gibibytes: "512MiB", "2GiB".
type Size int64

const (
	mebibyte Size = 1 << 20
	gibibyte Size = 1 << 30
	mostSize      = 1024 * gibibyte
)

// String is the amount as UnmarshalText reads it.
func (s Size) String() string {
	if s%gibibyte == 0 {
		return fmt.Sprintf("%dGiB", s/gibibyte)
	}
	return fmt.Sprintf("%dMiB", s/mebibyte)
}

// UnmarshalText reads an amount from 1 MiB to 1,024 GiB.
func (s *Size) UnmarshalText(text []byte) error {
	unit := mebibyte
	number, ok := strings.CutSuffix(string(text), "MiB")
	if !ok {
		unit = gibibyte
		number, ok = strings.CutSuffix(string(text), "GiB")
	}
	n, err := strconv.ParseUint(number, 10, 32)
	if size := Size(n) * unit; ok && err == nil && size > 0 && size <= mostSize {
		*s = size
		return nil
	}
	return fmt.Errorf(`%q is no amount of memory from 1MiB to 1024GiB (want "512MiB", "2GiB")`, text)
}

// Secret is a text that no log and no error shows. It comes from the environment only.
type Secret string

// String says whether there is a secret. The secret itself is string(s).
func (s Secret) String() string {
	if s == "" {
		return "unset"
	}
	return "hidden"
}

// MarshalText writes what String says.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// printable refuses a secret that can't stand in a header or an IRC line.
func printable(s Secret) error {
	if strings.ContainsFunc(string(s), func(c rune) bool { return c <= ' ' || c > '~' }) {
		return errors.New("there is a blank, a line break or a character beyond ASCII in it")
	}
	return nil
}

// leastVariety is how many different characters a secret of people's choice has at least. A random one of 32 hexadecimal digits has fewer less than once
// in ten million times.
const leastVariety = 8

// unguessable refuses a secret of people's choice that is too short to withstand guessing, or always the same.
func unguessable(s Secret) error {
	const instead = "use a long random text (openssl rand -hex 24)"
	different := map[rune]bool{}
	for _, c := range s {
		different[c] = true
	}
	switch n := len(different); {
	case s == "":
		return nil
	case len(s) < 16:
		return errors.New("is shorter than 16 characters: " + instead)
	case n == 1:
		return fmt.Errorf("has only 1 different character, of at least %d: %s", leastVariety, instead)
	case n < leastVariety:
		return fmt.Errorf("has only %d different characters, of at least %d: %s", n, leastVariety, instead)
	}
	return nil
}

// Proxy is a range of addresses. As text it is one address or a CIDR range: "10.0.0.7", "10.0.0.0/8".
type Proxy struct{ netip.Prefix }

// UnmarshalText reads an address or a range.
func (p *Proxy) UnmarshalText(text []byte) error {
	if addr, err := netip.ParseAddr(string(text)); err == nil {
		p.Prefix = netip.PrefixFrom(addr.WithZone(""), addr.BitLen())
		return nil
	}
	prefix, err := netip.ParsePrefix(string(text))
	if err != nil {
		return fmt.Errorf(`%q is no address (want "10.0.0.7" or "10.0.0.0/8")`, text)
	}
	if prefix.Bits() == 0 {
		return fmt.Errorf("%q is every address, and anybody could name another's: list the proxy's own", text)
	}
	p.Prefix = prefix.Masked()
	return nil
}

// ChannelName returns the login of the channel that a person means by name: lower case, without a leading "#", or the last part of an address
// such as https://www.twitch.tv/name. The error says which characters Twitch allows.
func ChannelName(name string) (string, error) {
	const allowed = "abcdefghijklmnopqrstuvwxyz0123456789_"
	login := strings.ToLower(strings.TrimSpace(name))
	if _, path, ok := strings.Cut(login, "twitch.tv/"); ok {
		login = strings.TrimSuffix(path, "/")
	}
	login = strings.TrimPrefix(login, "#")
	if login == "" || len(login) > 25 || strings.Trim(login, allowed) != "" {
		return "", fmt.Errorf("%q is no channel name (want 1 to 25 letters, digits and _, as in twitch.tv/name)", name)
	}
	return login, nil
}

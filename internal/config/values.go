package config

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/chatguard/chatguard/internal/durations"
)

const day = 24 * time.Hour

// Retention is how long records are kept. Its text form is a duration in days or as
// durations.Parse reads it: "30d", "12h".
type Retention time.Duration

// UnmarshalText parses a duration, which must be greater than zero.
func (r *Retention) UnmarshalText(text []byte) error {
	d, err := durations.Parse(string(text))
	if err != nil || d <= 0 {
		return fmt.Errorf(`%q is not a duration above 0 (want "30d" or "12h")`, text)
	}
	*r = Retention(d)
	return nil
}

// Size is an amount of memory in bytes. Its text form is a number of mebibytes or gibibytes:
// "512MiB", "2GiB".
type Size int64

const (
	mebibyte Size = 1 << 20
	gibibyte Size = 1 << 30
	mostSize      = 1024 * gibibyte
)

// String returns the amount in the form that UnmarshalText parses.
func (s Size) String() string {
	if s%gibibyte == 0 {
		return fmt.Sprintf("%dGiB", s/gibibyte)
	}
	return fmt.Sprintf("%dMiB", s/mebibyte)
}

// UnmarshalText parses an amount from 1 MiB to 1,024 GiB.
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
	return fmt.Errorf(`%q is not an amount of memory from 1MiB to 1024GiB (such as "512MiB" or "2GiB")`, text)
}

// Memory is an amount of memory, or HalfMemory. Its text form is that of a Size, or "half".
type Memory Size

const (
	// HalfMemory is half of the memory that the machine or the container has.
	HalfMemory Memory = 0
	// LeastMemory is the smallest amount that a configuration can set.
	LeastMemory = 64 * Memory(mebibyte)
)

const halfText = "half"

// String returns the amount in the form that UnmarshalText parses.
func (m Memory) String() string {
	if m == HalfMemory {
		return halfText
	}
	return Size(m).String()
}

// UnmarshalText parses an amount from LeastMemory, or "half".
func (m *Memory) UnmarshalText(text []byte) error {
	if string(text) == halfText {
		*m = HalfMemory
		return nil
	}
	var s Size
	if s.UnmarshalText(text) != nil || Memory(s) < LeastMemory {
		return fmt.Errorf(`%q is neither "half" nor an amount of memory from %s to 1024GiB (such as "512MiB" or "2GiB")`, text, LeastMemory)
	}
	*m = Memory(s)
	return nil
}

// Secret is a text that never appears in logs or errors. It is set only by the environment.
type Secret string

// String says whether there is a secret. Use string(s) for the secret itself.
func (s Secret) String() string {
	if s == "" {
		return "unset"
	}
	return "hidden"
}

// MarshalText returns the text of String.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// checkPrintable returns an error for a secret that can't be part of a header or an IRC line.
func checkPrintable(s Secret) error {
	if strings.ContainsFunc(string(s), func(c rune) bool { return c <= ' ' || c > '~' }) {
		return errors.New("it contains a blank, a line break or a non-ASCII character")
	}
	return nil
}

// leastVariety is the minimum number of different characters in a secret that a person chose. A
// random secret of 32 hexadecimal digits has fewer with a probability below one in ten million.
const leastVariety = 8

// checkStrength returns an error for a secret that is too easy to guess: too short, or with too few
// different characters. People choose these secrets themselves.
func checkStrength(s Secret) error {
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

// Proxy is a range of addresses. Its text form is an address or a CIDR range: "10.0.0.7",
// "10.0.0.0/8".
type Proxy struct{ netip.Prefix }

// UnmarshalText parses an address or a range.
func (p *Proxy) UnmarshalText(text []byte) error {
	if addr, err := netip.ParseAddr(string(text)); err == nil {
		p.Prefix = netip.PrefixFrom(addr.WithZone(""), addr.BitLen())
		return nil
	}
	prefix, err := netip.ParsePrefix(string(text))
	if err != nil {
		return fmt.Errorf(`%q is not an address (want "10.0.0.7" or "10.0.0.0/8")`, text)
	}
	if prefix.Bits() == 0 {
		return fmt.Errorf("%q is every address, so anyone could claim another's: list only the proxy's", text)
	}
	p.Prefix = prefix.Masked()
	return nil
}

// ChannelName returns the login of the channel that a person means by name: in lower case, without
// a leading "#". If name is a URL such as https://www.twitch.tv/name, it returns the last part. The
// error says which characters Twitch allows.
func ChannelName(name string) (string, error) { return parseLogin(name, "channel name") }

// parseLogin is like ChannelName, for any account. what describes the login in errors.
func parseLogin(name, what string) (string, error) {
	const allowed = "abcdefghijklmnopqrstuvwxyz0123456789_"
	login := strings.ToLower(strings.TrimSpace(name))
	if _, path, ok := strings.Cut(login, "twitch.tv/"); ok {
		login = strings.TrimSuffix(path, "/")
	}
	login = strings.TrimPrefix(login, "#")
	if login == "" || len(login) > 25 || strings.Trim(login, allowed) != "" {
		return "", fmt.Errorf("%q is not a %s (want 1 to 25 letters, digits and _, as in twitch.tv/name)", name, what)
	}
	return login, nil
}

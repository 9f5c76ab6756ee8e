package chatguard

// Scope says who shares the allowance of a limit.
type Scope uint8

// The scopes.
const (
	PerUser           Scope = iota // each user has a separate allowance in each channel
	PerUserEverywhere              // each user has one allowance in all channels together
	PerChannel                     // everyone in a channel shares one allowance; gives no strikes
)

var scopeNames = [...]string{"user", "user-everywhere", "channel"}

// String returns the scope's name as used in configuration and JSON.
func (s Scope) String() string { return nameOf(scopeNames[:], "scope", uint8(s)) }

// MarshalText writes the scope's name.
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText parses a scope's name.
func (s *Scope) UnmarshalText(text []byte) (err error) {
	*s, err = parseName[Scope](scopeNames[:], "scope", text)
	return err
}

package chatguard

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Role is one role that a user can have in a channel. A greater Role takes precedence over a
// smaller one. The zero value is FirstTimer; for no role, use the zero Roles.
//
// Its type is wider than necessary, because encoding/json decodes a string into a slice of single
// bytes as base64, whatever methods the bytes have.
type Role uint16

// The roles, in ascending order. Every user is Everyone.
const (
	FirstTimer    Role = iota // writes in this channel for the first time
	Everyone                  // every chatter
	Subscriber                // pays for the channel
	VIP                       // honoured by the broadcaster
	Moderator                 // keeps order
	LeadModerator             // leads the moderators
	Broadcaster               // owns the channel
)

var roleNames = [...]string{"first_timer", "everyone", "subscriber", "vip", "moderator", "lead_moderator", "broadcaster"}

// RoleNames returns the names of all roles in ascending order, as used in configuration and JSON.
func RoleNames() []string { return append([]string(nil), roleNames[:]...) }

// String returns the role's name as used in configuration and JSON.
func (r Role) String() string { return nameOf(roleNames[:], "role", r) }

// MarshalText writes the role's name.
func (r Role) MarshalText() ([]byte, error) {
	if int(r) >= len(roleNames) {
		return nil, fmt.Errorf("unknown role %d", uint16(r))
	}
	return []byte(roleNames[r]), nil
}

// UnmarshalText parses a role's name.
func (r *Role) UnmarshalText(text []byte) error {
	return parseName(roleNames[:], "role", text, r)
}

// UnmarshalJSON parses a role's name and rejects anything else, including null.
func (r *Role) UnmarshalJSON(data []byte) error {
	var name *string
	if json.Unmarshal(data, &name) != nil || name == nil {
		return fmt.Errorf("a role must be a name (known: %s)", strings.Join(roleNames[:], ", "))
	}
	return r.UnmarshalText([]byte(*name))
}

// Roles is a set of roles. The zero value means an ordinary chatter, who is Everyone and nothing
// else.
type Roles uint8

// allRoles is the set of all roles.
const allRoles Roles = 1<<(Broadcaster+1) - 1

// RolesOf returns the set of the given roles.
func RolesOf(roles ...Role) Roles {
	var set Roles
	for _, r := range roles {
		set |= 1 << r
	}
	return set
}

// Has reports whether r is in the set. Everyone is in every set.
func (s Roles) Has(r Role) bool { return r == Everyone || s&(1<<r) != 0 }

// List returns the roles in the set in descending order, without Everyone.
func (s Roles) List() []Role {
	list := []Role{}
	for r := range Broadcaster + 1 {
		if r != Everyone && s.Has(r) {
			list = append(list, r)
		}
	}
	slices.Reverse(list)
	return list
}

// String returns the names of the roles, as in "moderator, subscriber". It is "everyone" for an
// ordinary chatter.
func (s Roles) String() string {
	list := s.List()
	if len(list) == 0 {
		return Everyone.String()
	}
	names := make([]string, len(list))
	for i, r := range list {
		names[i] = r.String()
	}
	return strings.Join(names, ", ")
}

// MarshalJSON writes the set as a list of names.
func (s Roles) MarshalJSON() ([]byte, error) { return s.appendJSON(nil), nil }

func (s Roles) appendJSON(b []byte) []byte {
	b = append(b, '[')
	for i, r := range s.List() {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), r.String()...), '"')
	}
	return append(b, ']')
}

// UnmarshalJSON reads a list of names.
func (s *Roles) UnmarshalJSON(data []byte) error {
	var list []Role
	err := json.Unmarshal(data, &list)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return fmt.Errorf("roles must be a list of names (known: %s)", strings.Join(roleNames[:], ", "))
	}
	if err != nil {
		return err
	}
	*s = RolesOf(list...)
	return nil
}

// nameOf returns the name of a value from the list of its type's names. For a value without a name,
// it returns what and the number, as in "role(9)".
func nameOf[T ~uint8 | ~uint16](names []string, what string, value T) string {
	if int(value) < len(names) {
		return names[value]
	}
	return fmt.Sprintf("%s(%d)", what, value)
}

// parseName sets value to the one whose name is text. If there is none, parseName sets value to 0,
// and returns an error that lists the known names.
func parseName[T ~uint8 | ~uint16](names []string, what string, text []byte, value *T) error {
	i := slices.Index(names, string(text))
	if i < 0 {
		*value = 0
		return fmt.Errorf("unknown %s %q (known: %s)", what, text, strings.Join(names, ", "))
	}
	*value = T(i)
	return nil
}

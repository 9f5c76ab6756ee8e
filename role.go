package chatguard

import (
	"encoding/json"
	"fmt"
)

// Role is one standing that a user can have in a channel. A greater Role outranks a smaller one.
type Role uint8

// The roles, in rising order. Every user is Everyone.
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

// RoleNames are the names of all roles in rising order, as configuration and JSON spell them.
func RoleNames() []string { return append([]string(nil), roleNames[:]...) }

// String is the role's name, as configuration and JSON spell it.
func (r Role) String() string { return nameOf(roleNames[:], "role", uint8(r)) }

// MarshalText writes the role's name.
func (r Role) MarshalText() ([]byte, error) {
	if int(r) >= len(roleNames) {
		return nil, fmt.Errorf("unknown role %d", uint8(r))
	}
	return []byte(roleNames[r]), nil
}

// UnmarshalText reads a role's name.
func (r *Role) UnmarshalText(text []byte) (err error) {
	*r, err = named[Role](roleNames[:], "role", text)
	return err
}

// Roles is a set of roles. The zero value is an ordinary chatter: Everyone and nothing else.
type Roles uint8

// allRoles are the roles that there are.
const allRoles Roles = 1<<(Broadcaster+1) - 1

// RolesOf returns the set of the roles given.
func RolesOf(roles ...Role) Roles {
	var set Roles
	for _, r := range roles {
		set |= 1 << r
	}
	return set
}

// Has reports whether r is in the set. Everyone is in every set.
func (s Roles) Has(r Role) bool { return r == Everyone || s&(1<<r) != 0 }

// List returns the roles in the set in falling order, without Everyone.
func (s Roles) List() []Role {
	list := []Role{}
	for r := Broadcaster; ; r-- {
		if r != Everyone && s.Has(r) {
			list = append(list, r)
		}
		if r == 0 {
			return list
		}
	}
}

// MarshalJSON writes the set as a list of names.
func (s Roles) MarshalJSON() ([]byte, error) { return json.Marshal(s.List()) }

// UnmarshalJSON reads a list of names.
func (s *Roles) UnmarshalJSON(data []byte) error {
	var list []Role
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	*s = RolesOf(list...)
	return nil
}

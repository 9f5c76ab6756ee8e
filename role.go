package chatguard

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/chatguard/chatguard/internal/limits"
)

// Role is the name of a role that a user can have in a channel, such as "subscriber". The program
// defines its roles. A name has 1 to 64 letters (a to z, A to Z), digits and characters of "-_:".
type Role string

// The roles that the library knows.
const (
	RoleModerator Role = "moderator" // keeps order; exempt in DefaultPolicy
	RoleEveryone  Role = "everyone"  // every user has it, whether User.Roles lists it or not
)

// Roles are the roles of one user, in any order. The zero value means an ordinary user.
type Roles []Role

// Has reports whether r is among the roles. RoleEveryone always is.
func (s Roles) Has(r Role) bool { return r == RoleEveryone || slices.Contains(s, r) }

// String returns the names of the roles, as in "moderator, subscriber". It is "everyone" for an
// ordinary user.
func (s Roles) String() string {
	if len(s) == 0 {
		return string(RoleEveryone)
	}
	return strings.Join(namesOf(s), ", ")
}

// MarshalJSON writes a list of names; it writes no roles as [].
func (s Roles) MarshalJSON() ([]byte, error) { return json.Marshal(append([]Role{}, s...)) }

// checkNames returns an error if a name isn't valid or occurs twice, or if there are too many.
// parameter is the key of the names.
func checkNames[T ~string](parameter string, names []T) error {
	if len(names) > limits.MaxRoles {
		return limits.MistakeIn(parameter, len(names), "%s: there are %d names, want %d or fewer", parameter, len(names), limits.MaxRoles)
	}
	seen := make(map[T]bool, len(names))
	for _, name := range names {
		switch {
		case !limits.IsRoleName(string(name)):
			return limits.MistakeIn(parameter, fmt.Sprintf("%.80s", string(name)), "%s: %.80q is not a name of 1 to %d letters (a to z, A to Z), digits and characters of -_:", parameter, string(name), limits.MaxRoleName)
		case seen[name]:
			return limits.MistakeIn(parameter, string(name), "%s: %s is listed twice", parameter, name)
		}
		seen[name] = true
	}
	return nil
}

func namesOf[T ~string](list []T) []string {
	names := make([]string, len(list))
	for i, name := range list {
		names[i] = string(name)
	}
	return names
}

// nameOf returns the name of a value from the list of its type's names. For a value without a name,
// it returns what and the number, as in "mode(9)".
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

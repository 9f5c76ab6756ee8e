package roles

import (
	"fmt"
	"slices"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/limits"
)

// Set is a set of Twitch's roles. The zero value is empty.
type Set uint8

// With returns the set with one more role.
func (s Set) With(r chatguard.Role) Set { return s | 1<<slices.Index(Twitch, r) }

// Roles returns the roles, highest first. All callers share the slice: don't change it.
func (s Set) Roles() chatguard.Roles { return rolesOfSets[s] }

// KindSet is a set of Twitch's kinds of messages. The zero value is an ordinary message.
type KindSet uint8

// KindOf returns the set of one kind.
func KindOf(kind string) KindSet { return 1 << slices.Index(TwitchKinds, kind) }

// Kinds returns the kinds. All callers share the slice: don't change it.
func (s KindSet) Kinds() []string { return kindsOfSets[s] }

// rolesOfSets and kindsOfSets are made once, so that a message needs no memory for them.
var (
	rolesOfSets = allSets(Twitch)
	kindsOfSets = allSets(TwitchKinds)
)

// allSets returns, for each set of bits, the names of that set.
func allSets[T any](names []T) [][]T {
	sets := make([][]T, 1<<len(names))
	for set := range sets {
		for i, name := range names {
			if set>>i&1 != 0 {
				sets[set] = append(sets[set], name)
			}
		}
		sets[set] = slices.Clip(sets[set])
	}
	return sets
}

// Check returns an error unless a message or a user can have all of these names, of roles or of
// kinds.
func Check[T ~string](names []T) error {
	if len(names) > limits.MaxRoles {
		return fmt.Errorf("%d names, want %d or fewer", len(names), limits.MaxRoles)
	}
	for _, name := range names {
		if !limits.IsRoleName(string(name)) {
			return fmt.Errorf("%.80q is no name: it has 1 to %d letters (a to z, A to Z), digits and characters of -_:", string(name), limits.MaxRoleName)
		}
	}
	return nil
}

// Numbers numbers sets of names, so that a recorded message needs only a number for its author's
// roles or its kinds. The zero value is empty.
type Numbers[T ~string] struct {
	sets    [][]T
	numbers map[string]uint16
}

// Of returns the number of a set. It is 0 for an empty set, and if there are too many sets.
func (n *Numbers[T]) Of(set []T) uint16 {
	if len(set) == 0 {
		return 0
	}
	var key []byte
	for _, name := range set {
		key = append(append(key, name...), ',')
	}
	number, ok := n.numbers[string(key)]
	if ok || len(n.sets) == 1<<16 {
		return number
	}
	if n.numbers == nil {
		n.numbers, n.sets = map[string]uint16{}, make([][]T, 1)
	}
	number = uint16(len(n.sets))
	n.numbers[string(key)], n.sets = number, append(n.sets, slices.Clone(set))
	return number
}

// Set returns the set with a number. Don't change it.
func (n *Numbers[T]) Set(number uint16) []T {
	if number == 0 {
		return nil
	}
	return n.sets[number]
}

package policies

import (
	"slices"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// ownNames returns the names of the limits that a channel can change, in order. The others keep
// their places.
func ownNames(p chatguard.Policy) (names []string) {
	for _, l := range channelsOwn(p).Limits {
		names = append(names, l.Name)
	}
	return names
}

// orderDiff returns the change of the order, if there is one. The other changes alone remove limits
// and append new ones by name. The order is a change of its own only if it differs from the result
// of these.
func orderDiff(from, to []string) []journal.Change {
	kept := slices.DeleteFunc(slices.Clone(from), func(name string) bool { return !slices.Contains(to, name) })
	added := slices.DeleteFunc(slices.Clone(to), func(name string) bool { return slices.Contains(from, name) })
	slices.Sort(added)
	if slices.Equal(slices.Concat(kept, added), to) {
		return []journal.Change{}
	}
	return []journal.Change{{Key: orderKey, From: values(from), To: values(to)}}
}

// values converts names to the form in which a store returns them.
func values(names []string) []any {
	list := make([]any, len(names))
	for i, name := range names {
		list[i] = name
	}
	return list
}

// namesIn is the inverse of values. ok is false if the value isn't a list of names.
func namesIn(value any) (list []string, ok bool) {
	items, ok := value.([]any)
	for _, item := range items {
		name, isName := item.(string)
		list, ok = append(list, name), ok && isName
	}
	return list, ok
}

// inOrder puts those names that are in wanted into the order of wanted. All others keep their
// places.
func inOrder(names, wanted []string) []string {
	left := slices.DeleteFunc(slices.Clone(wanted), func(name string) bool { return !slices.Contains(names, name) })
	ordered := slices.Clone(names)
	for i, name := range names {
		if len(left) > 0 && slices.Contains(wanted, name) {
			ordered[i], left = left[0], left[1:]
		}
	}
	return ordered
}

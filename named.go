package chatguard

import (
	"fmt"
	"slices"
	"strings"
)

// nameOf returns the name of a value whose type's values are named in order, and what and the number for one that has none.
func nameOf(names []string, what string, value uint8) string {
	if int(value) < len(names) {
		return names[value]
	}
	return fmt.Sprintf("%s(%d)", what, value)
}

// named returns the value of a name. The error names the known ones.
func named[T ~uint8](names []string, what string, text []byte) (T, error) {
	if i := slices.Index(names, string(text)); i >= 0 {
		return T(i), nil
	}
	return 0, fmt.Errorf("unknown %s %q (known: %s)", what, text, strings.Join(names, ", "))
}

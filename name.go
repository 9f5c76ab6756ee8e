package chatguard

import (
	"fmt"
	"slices"
	"strings"
)

// nameOf returns the name of a value from the list of its type's names. For a value without a name
// it returns what, followed by the number.
func nameOf(names []string, what string, value uint8) string {
	if int(value) < len(names) {
		return names[value]
	}
	return fmt.Sprintf("%s(%d)", what, value)
}

// parseName returns the value with that name. The error lists the known names.
func parseName[T ~uint8](names []string, what string, text []byte) (T, error) {
	if i := slices.Index(names, string(text)); i >= 0 {
		return T(i), nil
	}
	return 0, fmt.Errorf("unknown %s %q (known: %s)", what, text, strings.Join(names, ", "))
}

package limits

import (
	"errors"
	"fmt"
)

// Mistake is an error in the configuration of a limit, or in an override.
type Mistake struct {
	Limit string // the limit's name; empty if the mistake isn't in a limit
	// Role is the role with whose numbers the limit is wrong, or empty.
	Role string
	// Parameter is the wrong parameter's key in the configuration. It is empty if no parameter
	// alone is wrong.
	Parameter string
	Value     any    // the parameter's value
	Problem   string // what is wrong, and what would be right
}

// MistakeIn returns a Mistake in a parameter.
func MistakeIn(parameter string, value any, problem string, args ...any) error {
	return &Mistake{Parameter: parameter, Value: value, Problem: fmt.Sprintf(problem, args...)}
}

// Error names the limit and the role, if there are any, and the problem.
func (m *Mistake) Error() string {
	text := m.Problem
	if m.Role != "" {
		text = fmt.Sprintf("for role %q: %s", m.Role, text)
	}
	if m.Limit != "" {
		text = fmt.Sprintf("limit %q: %s", m.Limit, text)
	}
	return text
}

// InLimit adds the limit's name to a Mistake. It returns other errors, and nil, as they are.
func InLimit(name string, err error) error {
	if m, ok := errors.AsType[*Mistake](err); ok {
		m.Limit = name
	}
	return err
}

// InRole adds the role to a Mistake, as InLimit does the limit's name.
func InRole(name string, err error) error {
	if m, ok := errors.AsType[*Mistake](err); ok {
		m.Role = name
	}
	return err
}

package chatguard

import (
	"errors"
	"fmt"
	"time"

	"github.com/chatguard/chatguard/internal/durations"
	"github.com/chatguard/chatguard/internal/limits"
)

// PolicyError is a mistake in a policy or in a user's override. The errors of New, Policy.Validate,
// Guard.SetPolicy, Guard.SetChannelPolicy and Guard.SetUserOverride contain it, for errors.As. A
// program in which people edit policies can show Problem beside the field of Parameter.
type PolicyError struct {
	// Limit is the name of the limit with the mistake. It is empty if the mistake isn't in a limit,
	// or if the limit has no name.
	Limit string
	// Role is the role for which the limit's numbers are wrong. It is empty if they are wrong for
	// everyone.
	Role Role
	// Parameter is the key in JSON and TOML, such as "burst" in a limit and "penalties.ladder" in a
	// policy. The key of a step of the ladder has the step's index: "penalties.ladder[0]" for the
	// first. Parameter is empty if no single value is wrong. A role can also be refused for a value
	// that the limit has for everyone.
	Parameter string
	Value     string // the parameter's value, written as in TOML without quotes
	Problem   string // what is wrong, and what would be right
}

// Error names the limit and the role, if there are any, and the problem.
func (e *PolicyError) Error() string {
	m := limits.Mistake{Limit: e.Limit, Role: string(e.Role), Problem: e.Problem}
	return m.Error()
}

// policyError returns a limits.Mistake as a PolicyError, and other errors unchanged.
func policyError(err error) error {
	m, ok := errors.AsType[*limits.Mistake](err)
	if !ok {
		return err
	}
	return &PolicyError{Limit: m.Limit, Role: Role(m.Role), Parameter: m.Parameter, Value: textOf(m.Value), Problem: m.Problem}
}

// textOf returns a value of a policy as text.
func textOf(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case time.Duration:
		return durations.Format(value)
	}
	return fmt.Sprint(value)
}

package inner

import (
	"cmp"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/limits"
)

// IsShared reports whether several users share the allowance of a limit with that scope.
func IsShared(s chatguard.Scope) bool { return limits.Scope(s).IsShared() }

// IsText reports whether a limit with that scope is on repeated text. Its allowance then belongs to
// a text, so no user has one.
func IsText(s chatguard.Scope) bool { return limits.Scope(s).IsText() }

// IsPersonal reports whether each user has their own allowance of a limit with that scope, whatever
// they write.
func IsPersonal(s chatguard.Scope) bool { return !IsShared(s) && !IsText(s) }

// TextLimits returns the limits on repeated text that can throttle a user with these roles, with
// the numbers of the user's highest role that has some.
func TextLimits(p chatguard.Policy, roles chatguard.Roles) []chatguard.Limit {
	list := []chatguard.Limit{} // never null in JSON
	for _, l := range p.Limits {
		if !IsText(l.Per) || l.Mode == chatguard.ModeObserve {
			continue
		}
		for _, role := range p.Roles {
			if own, ok := l.Roles[role]; ok && roles.Has(role) {
				l.Burst, l.Refill = cmp.Or(own.Burst, l.Burst), cmp.Or(own.Refill, l.Refill)
				l.ExtraBurst, l.ExtraRefill = cmp.Or(own.ExtraBurst, l.ExtraBurst), cmp.Or(own.ExtraRefill, l.ExtraRefill)
				l.Messages = cmp.Or(own.Messages, l.Messages)
				break
			}
		}
		l.Roles = nil
		list = append(list, l)
	}
	return list
}

// InAllChannels reports whether a limit with that scope counts in all channels together. A single
// channel can't change such a limit.
func InAllChannels(s chatguard.Scope) bool { return limits.Scope(s).InAllChannels() }

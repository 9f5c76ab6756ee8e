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

// IsTextKey reports whether the user ID of a row is the key of a repeated text; see state.Row.
func IsTextKey(userID string) bool { return userID != "" && userID[0] == limits.TextMark }

// TextLimits returns the limits on repeated text that can throttle a user with these roles in a
// channel, with the numbers for the roles, and what each allows now.
func TextLimits(guard *chatguard.Guard, channelID string, roles chatguard.Roles) ([]chatguard.Limit, []limits.Quota) {
	policy, quotas := Of(guard).TextQuotas(channelID, roles)
	list := make([]chatguard.Limit, len(quotas)) // never null in JSON
	for i, q := range quotas {
		l := policy.Limits[q.Place]
		n := NumbersOf(l, l.Roles[chatguard.Role(q.Role)])
		l.Burst, l.Refill, l.ExtraBurst, l.ExtraRefill, l.Messages, l.Roles = n.Burst, n.Refill, n.ExtraBurst, n.ExtraRefill, n.Messages, nil
		list[i] = l
	}
	return list, quotas
}

// NumbersOf returns the numbers of a limit for users with an override.
func NumbersOf(l chatguard.Limit, o chatguard.Override) chatguard.Override {
	return chatguard.Override{
		Burst: cmp.Or(o.Burst, l.Burst), Refill: cmp.Or(o.Refill, l.Refill), ExtraBurst: cmp.Or(o.ExtraBurst, l.ExtraBurst), ExtraRefill: cmp.Or(o.ExtraRefill, l.ExtraRefill),
		Queue: cmp.Or(o.Queue, l.Queue), Messages: cmp.Or(o.Messages, l.Messages),
	}
}

// InAllChannels reports whether a limit with that scope counts in all channels together. A single
// channel can't change such a limit.
func InAllChannels(s chatguard.Scope) bool { return limits.Scope(s).InAllChannels() }

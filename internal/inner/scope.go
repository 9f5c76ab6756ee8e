package inner

import (
	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/limits"
)

// IsShared reports whether several users share the allowance of a limit with that scope.
func IsShared(s chatguard.Scope) bool { return limits.Scope(s).IsShared() }

// IsText reports whether a limit with that scope is on repeated text.
func IsText(s chatguard.Scope) bool { return limits.Scope(s).IsText() }

// InAllChannels reports whether a limit with that scope counts in all channels together. A single
// channel can't change such a limit.
func InAllChannels(s chatguard.Scope) bool { return limits.Scope(s).InAllChannels() }

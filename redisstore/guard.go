package redisstore

import "context"

// Guard is what Run needs of a *chatguard.Guard.
type Guard interface {
	// Invalidate makes the Guard read a row again.
	Invalidate(channelID, userID string)
	// InvalidateAll makes the Guard read all rows again.
	InvalidateAll()
	// Heal makes the next Exchange write again the rows that the server may have lost.
	Heal()
	// Exchange sends what was spent here, and receives what was spent on other nodes.
	Exchange(ctx context.Context) error
	// PolicyHash identifies the Guard's policy. It is the same for all Guards with that policy.
	PolicyHash() string
}

package simulate

import (
	"context"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
)

// Overrides are the settings of single users, by user ID.
type Overrides struct {
	Channel    map[string]chatguard.UserOverride // in the channel
	Everywhere map[string]chatguard.UserOverride // in limits per user across all channels
}

// zoneWait is how long before the first message the overrides are set. It must be this long because
// a time zone takes effect only at the end of the day after the user's current one.
const zoneWait = 72 * time.Hour

// setOverrides sets the overrides of a group's users. It leaves out numbers that don't fit the
// policy: a limit may no longer exist, or may count differently. It also leaves out temporary
// exemptions, because they say nothing about the time before they began. key is the users' key,
// without their IDs.
func setOverrides(guard *chatguard.Guard, key chatguard.Key, t *Timeline, members group, own map[string]chatguard.UserOverride) {
	at := t.From().Add(-zoneWait)
	for userID, whole := range own {
		if number, spoke := t.numbers[userID]; !spoke || !members.has(number) {
			continue
		}
		if !whole.ExemptUntil.IsZero() {
			whole.Exempt, whole.ExemptUntil = "", time.Time{}
		}
		key.UserID = userID
		fitting := whole
		fitting.Limits = map[string]chatguard.Override{}
		for name, numbers := range whole.Limits {
			fitting.Limits[name] = numbers
			if inner.At(guard, at).SetUserOverride(context.Background(), key, fitting) != nil {
				delete(fitting.Limits, name)
			}
		}
		// An error means that there are no limits per user across all channels, so there is nothing
		// to set.
		inner.At(guard, at).SetUserOverride(context.Background(), key, fitting)
	}
}

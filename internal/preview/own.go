package preview

import (
	"time"

	"github.com/chatguard/chatguard"
)

// Own is what single users have of their own, by ID.
type Own struct {
	Channel    map[string]chatguard.UserOverride // in the channel
	Everywhere map[string]chatguard.UserOverride // in limits per user in all channels
}

// zoneWait is how long before the first message everybody is given what is theirs: a zone holds only from the end of the day after the user's present one.
const zoneWait = 72 * time.Hour

// give gives those of a group what they have of their own, as far as it fits the policy: a limit may be gone or count otherwise. An exemption that ends
// says nothing of the hours before it began, so it is left out.
func give(guard *chatguard.Guard, channelID string, t *Timeline, members group, own map[string]chatguard.UserOverride) {
	at := t.From().Add(-zoneWait)
	for userID, whole := range own {
		if number, spoke := t.numbers[userID]; !spoke || !members.has(number) {
			continue
		}
		if !whole.ExemptUntil.IsZero() {
			whole.Exempt, whole.ExemptUntil = chatguard.ExemptByRole, time.Time{}
		}
		fitting := whole
		fitting.Limits = map[string]chatguard.Override{}
		for name, numbers := range whole.Limits {
			fitting.Limits[name] = numbers
			if guard.SetUserOverride(channelID, userID, fitting, at) != nil {
				delete(fitting.Limits, name)
			}
		}
		guard.SetUserOverride(channelID, userID, fitting, at) // without limits per user in all channels there is nothing to give
	}
}

// Package roles has the roles of users, and the kinds of messages, that Twitch knows. It knows no
// policy, and nothing of Twitch's protocols.
package roles

import (
	"slices"

	"github.com/chatguard/chatguard"
)

// The roles.
const (
	Broadcaster   chatguard.Role = "broadcaster"           // owns the channel
	LeadModerator chatguard.Role = "lead_moderator"        // leads the moderators
	Moderator                    = chatguard.RoleModerator // keeps order
	VIP           chatguard.Role = "vip"                   // honoured by the broadcaster
	Subscriber    chatguard.Role = "subscriber"            // pays for the channel
	Everyone                     = chatguard.RoleEveryone  // every chatter
	FirstTimer    chatguard.Role = "first_timer"           // writes in this channel for the first time
)

// Twitch is all roles, highest first. Don't change it.
var Twitch = []chatguard.Role{Broadcaster, LeadModerator, Moderator, VIP, Subscriber, Everyone, FirstTimer}

// Moderate reports whether one of the roles moderates a channel.
func Moderate(roles chatguard.Roles) bool {
	return slices.ContainsFunc(roles, func(r chatguard.Role) bool { return r == Moderator || r == LeadModerator || r == Broadcaster })
}

// Without returns the roles without one of them; nil if none are left.
func Without(roles chatguard.Roles, role chatguard.Role) (left chatguard.Roles) {
	for _, r := range roles {
		if r != role {
			left = append(left, r)
		}
	}
	return left
}

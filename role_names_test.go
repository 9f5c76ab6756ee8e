package chatguard

// The roles of most tests.
const (
	broadcaster   Role = "broadcaster"
	leadModerator Role = "lead_moderator"
	vip           Role = "vip"
	subscriber    Role = "subscriber"
	firstTimer    Role = "first_timer"
)

// testRoles are the roles of most tests, highest first.
var testRoles = []Role{broadcaster, leadModerator, RoleModerator, vip, subscriber, RoleEveryone, firstTimer}

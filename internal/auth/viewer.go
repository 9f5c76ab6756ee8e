package auth

// Viewer is an ordinary viewer on Twitch who has said who they are. They have no access to the
// dashboard. The ID never changes, but the names can.
type Viewer struct {
	ID          string
	Login       string
	DisplayName string
}

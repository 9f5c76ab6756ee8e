package control

import "errors"

// Errors of Chat.User.
var (
	ErrNoUser = errors.New("there is no such user")
	// ErrNoName means that nobody seen in the channel has this display name.
	ErrNoName = errors.New("nobody seen here has this display name")
	// ErrNamesakes means that several users seen in the channel have this display name.
	ErrNamesakes = errors.New("several users seen here have this display name")
)

// Errors of changes, for errors.Is, in addition to policies.ErrStale. Any other error describes
// what is wrong with the request.
var (
	ErrNoEntry   = errors.New("there is nothing to pardon")
	ErrNoNote    = errors.New("there is no such note")
	ErrStore     = errors.New("the database is failing")               // the log has details
	ErrSilenced  = errors.New("the user is still timed out or banned") // everything else was done
	ErrNoUndo    = errors.New("this pardon can't be undone any more: another one has followed, the user was reset, chatguard was restarted, or too much time has passed")
	ErrExemption = errors.New("an exemption lasts at most a year")
	// ErrMoreThanExemption is returned by SetExemption for another change.
	ErrMoreThanExemption = errors.New("more than the exemption would change")
)

package journal

import "errors"

// Errors of a change of one user, for errors.Is. Any other error describes what is wrong with the
// request.
var (
	ErrNoEntry  = errors.New("there is nothing to pardon")
	ErrStore    = errors.New("the database is failing")               // the log has details
	ErrSilenced = errors.New("the user is still timed out or banned") // everything else was done
	ErrNoUndo   = errors.New("this pardon can't be undone any more: another one has followed, the user was reset, chatguard was restarted, or too much time has passed")
)

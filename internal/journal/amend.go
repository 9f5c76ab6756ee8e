package journal

import "errors"

// What goes wrong with a change of one user, for errors.Is. Any other error of such a change says what is wrong with what was asked for.
var (
	ErrNoEntry  = errors.New("there is nothing to pardon")
	ErrStore    = errors.New("the database is in trouble") // the log says more
	ErrSilenced = errors.New("the user is silenced still") // although the rest is done
	ErrNoUndo   = errors.New("this pardon can't be undone any more: another one has followed, the user was reset, chatguard was restarted, or too much time has passed")
)

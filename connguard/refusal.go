package connguard

import (
	"errors"
	"time"

	"github.com/chatguard/chatguard"
)

// ErrConnections says that a user or an address has reached the maximum number of open connections.
var ErrConnections = errors.New("connguard: too many connections are open at once")

// retryConnections is the wait after ErrConnections. Nobody knows when another connection will
// close.
const retryConnections = 5 * time.Second

// Answer returns what to tell a client whose connection is refused, as an English sentence, and
// after which time it may try again. err is an error of Accept or Admit. The wait is exact for a
// *chatguard.ThrottledError, and 5 s for ErrConnections. It is 0 for any other error: log it,
// because the text then says only that the server has failed.
func Answer(err error) (text string, wait time.Duration) {
	var throttled *chatguard.ThrottledError
	switch {
	case errors.As(err, &throttled):
		wait = throttled.Verdict.RetryAfter
		return "Too many connection attempts. Try again in " + chatguard.FormatWait(wait) + ".", wait
	case errors.Is(err, ErrConnections):
		return "You have too many connections open. Close one, then try again.", retryConnections
	}
	return "The server could not admit the connection. Try again later.", 0
}

package httpguard

import (
	"cmp"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
)

// refuser answers requests that are refused.
type refuser struct {
	refused      func(http.ResponseWriter, *http.Request, error) // nil: one line of text
	authenticate string                                          // WWW-Authenticate of a 401
	logger       *slog.Logger                                    // nil: slog.Default()
	throttled    string                                          // first sentence of a 429
}

func (a *refuser) log() *slog.Logger { return cmp.Or(a.logger, slog.Default()) }

// refuse answers a request that is refused because of err.
func (a *refuser) refuse(w http.ResponseWriter, r *http.Request, err error) {
	status, text := http.StatusInternalServerError, "The server could not process the request. This is a server error; see the server's log."
	var throttled *chatguard.ThrottledError
	switch {
	case errors.As(err, &throttled):
		status, text = http.StatusTooManyRequests, a.throttledText(&throttled.Verdict)
		if seconds := throttled.Verdict.RetryAfterSeconds(); seconds > 0 {
			setHeader(w.Header(), "Retry-After", strconv.Itoa(seconds))
		}
	case errors.Is(err, connguard.ErrConnections):
		var wait time.Duration
		status = http.StatusTooManyRequests
		text, wait = connguard.Answer(err)
		setHeader(w.Header(), "Retry-After", strconv.Itoa(int(wait/time.Second)))
	case errors.Is(err, ErrNobody):
		status, text = http.StatusUnauthorized, "You are not signed in. Sign in, then try again."
		if a.authenticate != "" {
			setHeader(w.Header(), "Www-Authenticate", a.authenticate)
		}
	case r.Context().Err() != nil: // the client has gone, or the server ends
		status, text = http.StatusServiceUnavailable, "The server stopped waiting for the request. Try again."
	default:
		a.log().LogAttrs(r.Context(), slog.LevelError, "httpguard: a request was refused", slog.Any("error", err))
	}
	if a.refused != nil {
		a.refused(w, r, err)
		return
	}
	http.Error(w, text, status)
}

func (a *refuser) throttledText(v *chatguard.Verdict) string {
	if v.Never {
		return "The request costs more than the limit ever allows."
	}
	return a.throttled + " Try again in " + chatguard.FormatWait(v.RetryAfter) + "."
}

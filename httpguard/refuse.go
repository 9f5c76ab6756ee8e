package httpguard

import (
	"cmp"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
)

// refuser answers requests that are refused.
type refuser struct {
	refused      func(http.ResponseWriter, *http.Request, error) // nil: one line of text
	authenticate string                                          // WWW-Authenticate of a 401
	logger       *slog.Logger                                    // nil: slog.Default()
	connects     bool                                            // a request is a connection
}

func (a *refuser) log() *slog.Logger { return cmp.Or(a.logger, slog.Default()) }

// refuse answers a request that is refused because of err. values has room for two more headers.
func (a *refuser) refuse(w http.ResponseWriter, r *http.Request, values *headerValues, err error) {
	reply := a.reply(w.Header(), r, err)
	if a.refused != nil {
		a.refused(w, r, err)
		return
	}
	reply.write(w, r, values)
}

// throttle is refuse for a throttled request, without an error unless the program answers itself.
func (a *refuser) throttle(w http.ResponseWriter, r *http.Request, values *headerValues, v *chatguard.Verdict) {
	if a.refused != nil {
		a.refuse(w, r, values, &chatguard.ThrottledError{Verdict: *v})
		return
	}
	reply := throttledReply(w.Header(), v)
	reply.write(w, r, values)
}

// reply is the answer to a request that is refused.
type reply struct {
	status int
	text   string // one sentence or two
	wait   string // ends the text, before a full stop, if there is one
	limit  string // name of the limit that refuses; empty for other reasons
}

// reply returns the answer to a request that is refused because of err, and sets its headers.
func (a *refuser) reply(h http.Header, r *http.Request, err error) reply {
	if throttled, ok := errors.AsType[*chatguard.ThrottledError](err); ok {
		if !a.connects {
			return throttledReply(h, &throttled.Verdict)
		}
		text, _ := connguard.Answer(err)
		setRetryAfter(h, throttled.Verdict.RetryAfter)
		return reply{status: http.StatusTooManyRequests, text: text, limit: throttled.Verdict.Limit}
	}
	switch {
	case errors.Is(err, connguard.ErrConnections):
		text, wait := connguard.Answer(err)
		setHeader(h, headerRetry, strconv.Itoa(int(wait/time.Second)))
		return reply{status: http.StatusTooManyRequests, text: text, limit: "connections"}
	case errors.Is(err, ErrInFlight):
		setHeader(h, headerRetry, "1")
		return reply{status: http.StatusTooManyRequests, text: "Too many of your requests are in progress. Wait for one, then try again.", limit: "in-flight"}
	case errors.Is(err, ErrNobody):
		if a.authenticate != "" {
			setHeader(h, "Www-Authenticate", a.authenticate)
		}
		return reply{status: http.StatusUnauthorized, text: "You are not signed in. Sign in, then try again."}
	case r.Context().Err() != nil: // the client has gone, or the server ends
		return reply{status: http.StatusServiceUnavailable, text: "The server stopped waiting for the request. Try again."}
	}
	a.log().LogAttrs(r.Context(), slog.LevelError, "httpguard: a request was refused", slog.Any("error", err))
	return reply{status: http.StatusInternalServerError, text: "The server could not process the request. This is a server error; see the server's log."}
}

// throttledReply returns the answer to a throttled request, and sets Retry-After.
func throttledReply(h http.Header, v *chatguard.Verdict) reply {
	setRetryAfter(h, v.RetryAfter)
	y := reply{status: http.StatusTooManyRequests, limit: v.Limit}
	if v.Never {
		y.text = "The request costs more than the limit ever allows."
	} else {
		y.text, y.wait = "Too many requests. Try again in ", chatguard.FormatWait(v.RetryAfter)
	}
	return y
}

// setRetryAfter sets Retry-After, unless it is set or waiting doesn't help.
func setRetryAfter(h http.Header, wait time.Duration) {
	if wait > 0 && h[headerRetry] == nil {
		setHeader(h, headerRetry, strconv.FormatInt(seconds(wait), 10))
	}
}

// write writes the reply as a problem document if the client accepts one, and otherwise as text.
func (y *reply) write(w http.ResponseWriter, r *http.Request, values *headerValues) {
	h, body := w.Header(), make([]byte, 0, 64+len(y.text))
	if acceptsProblem(r.Header["Accept"]) {
		values.set(h, "Content-Type", "application/problem+json")
		body = y.appendProblem(body)
	} else {
		values.set(h, "Content-Type", "text/plain; charset=utf-8")
		body = y.appendText(body)
	}
	values.set(h, "X-Content-Type-Options", "nosniff")
	delete(h, "Content-Length")
	w.WriteHeader(y.status)
	_, _ = w.Write(append(body, '\n')) // the client has gone
}

func (y *reply) appendText(b []byte) []byte {
	if b = append(b, y.text...); y.wait != "" {
		b = append(append(b, y.wait...), '.')
	}
	return b
}

// appendProblem appends a problem document (RFC 9457). For a limit, its type is that of the
// Internet-Draft whose headers SetHeaders sets.
func (y *reply) appendProblem(b []byte) []byte {
	b = append(b, '{')
	if y.limit != "" {
		b = append(b, `"type":"https://iana.org/assignments/http-problem-types#quota-exceeded",`...)
	}
	b = strconv.AppendQuote(append(b, `"title":`...), http.StatusText(y.status))
	b = strconv.AppendInt(append(b, `,"status":`...), int64(y.status), 10)
	b = append(y.appendText(append(b, `,"detail":"`...)), '"') // plain ASCII without quotes
	if y.limit != "" {
		b = append(strconv.AppendQuote(append(b, `,"violated-policies":[`...), y.limit), ']')
	}
	return append(b, '}')
}

// acceptsProblem reports whether the values of Accept name a type for problem documents, or JSON.
// Ranges such as */* don't count: clients send them that show the answer to people.
func acceptsProblem(accept []string) bool {
	for _, value := range accept {
		for media := range strings.SplitSeq(value, ",") {
			name, weight, _ := strings.Cut(strings.TrimSpace(media), ";")
			name = strings.TrimSpace(name)
			if (strings.EqualFold(name, "application/problem+json") || strings.EqualFold(name, "application/json")) && !isZeroWeight(weight) {
				return true
			}
		}
	}
	return false
}

// isZeroWeight reports whether the parameters of a media type say that it isn't acceptable: q=0.
func isZeroWeight(parameters string) bool {
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(parameter), "=")
		if strings.EqualFold(name, "q") && strings.Trim(value, "0.") == "" {
			return true
		}
	}
	return false
}

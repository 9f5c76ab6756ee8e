// Package problem is how the HTTP API reads requests and writes answers: JSON bodies, queries, and
// errors as problem documents. It must not know what the requests are about.
package problem

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/language"
)

// Problem is an error together with its form for the client: an RFC 9457 problem document. The
// cause appears only in the log.
type Problem struct {
	Type   string `json:"type"` // always about:blank: the status is enough
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`

	// Mounted is an extension. It is true if the dashboard is part of another site, on which people
	// sign in.
	Mounted bool `json:"mounted,omitempty"`

	// Unconfirmed is an extension. It is true if the change may have been made: its reply was lost.
	Unconfirmed bool `json:"unconfirmed,omitempty"`

	// Mistake is an extension: the value that is wrong in a policy or in a user's override.
	Mistake *Mistake `json:"mistake,omitempty"`

	// Silenced is an extension: the timeout or ban in force, if a request doesn't fit it.
	Silenced *journal.Silence `json:"silenced,omitempty"`

	RetryAfter int `json:"-"` // seconds for the Retry-After header; 0 for no header

	sentence string // the format of Detail, in English
	args     []any
	cause    error
	known    bool // the cause is logged elsewhere
}

func (p *Problem) Error() string {
	if p.cause != nil {
		return fmt.Sprintf("%s (%v)", p.Detail, p.cause)
	}
	return p.Detail
}

func (p *Problem) Unwrap() error { return p.cause }

// Mistake is a wrong value in a policy or in a user's override.
type Mistake struct {
	Lane      int    `json:"lane,omitempty"`      // of a question to the Lab, from 1
	Limit     string `json:"limit,omitempty"`     // the limit's name, if the value is in a limit
	Role      string `json:"role,omitempty"`      // if it is one of a role's custom numbers
	Parameter string `json:"parameter,omitempty"` // key of the value, such as penalties.ladder[0]; "" if no single value is wrong
	Value     string `json:"value,omitempty"`
	Problem   string `json:"problem"` // what is wrong, and what would be right
}

// New returns a Problem with a sentence for people. The answer has the sentence in the language of
// the request, if the catalogues of package language contain its format. An argument of type
// language.Sentence is translated, too.
func New(status int, format string, args ...any) *Problem {
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: fmt.Sprintf(format, args...), sentence: format, args: args}
}

// Because adds a cause, which appears only in the log.
func (p *Problem) Because(cause error) *Problem {
	p.cause = cause
	return p
}

// BecauseOfOutage is Because for a cause that is logged once, when it begins.
func (p *Problem) BecauseOfOutage(cause error) *Problem {
	p.known = true
	return p.Because(cause)
}

// After sets when to try again, rounded up to seconds.
func (p *Problem) After(wait time.Duration) *Problem {
	p.RetryAfter = max(1, int((wait+time.Second-1)/time.Second))
	return p
}

// ForMounted records that the dashboard is part of another site, on which people sign in.
func (p *Problem) ForMounted() *Problem {
	p.Mounted = true
	return p
}

// AsUnconfirmed records that the change may have been made.
func (p *Problem) AsUnconfirmed() *Problem {
	p.Unconfirmed = true
	return p
}

// Handler answers a request, or returns an error that HandlerFunc turns into an answer.
type Handler func(w http.ResponseWriter, r *http.Request) error

// HandlerFunc turns a Handler into an http.HandlerFunc. It is the only place where errors are
// rendered and logged.
func HandlerFunc(log *slog.Logger, h Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			render(log, w, r, err)
		}
	}
}

func render(log *slog.Logger, w http.ResponseWriter, r *http.Request, err error) {
	var p *Problem
	if !errors.As(err, &p) {
		p = New(http.StatusInternalServerError, "Something went wrong; chatguard's log has the details.").Because(err)
	}
	level := slog.LevelDebug
	if p.Status >= http.StatusInternalServerError && p.Status != http.StatusNotImplemented && !p.known {
		level = slog.LevelError
	}
	log.Log(r.Context(), level, "request refused", "method", r.Method, "path", r.URL.Path, "status", p.Status, "error", p.Error())
	if p.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(p.RetryAfter))
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	told := *p // the log has the sentence in English
	told.Detail = hostile.Clip(language.Sprintf(language.Of(r), p.sentence, p.args...), MaxDetail)
	json.NewEncoder(w).Encode(told) // an error means that the client is gone
}

// Redirect sends the browser to an address. It keeps a relative one as it is, because a proxy may
// hide a part of the path.
func Redirect(w http.ResponseWriter, address string) {
	w.Header().Set("Location", address)
	w.WriteHeader(http.StatusFound)
}

// WriteJSON writes value as a JSON answer.
func WriteJSON(w http.ResponseWriter, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(append(body, '\n')) // an error means that the client is gone
	return nil
}

// Maximum sizes of a request's body, in bytes.
const (
	MaxBody      = 1 << 20  // a policy, or messages to be judged as they are
	maxSmallBody = 64 << 10 // anything else
)

// ReadJSON reads the body of a small request: one JSON value, in which unknown keys are an error.
// It refuses null.
func ReadJSON(w http.ResponseWriter, r *http.Request, into any) error {
	return ReadJSONUpTo(w, r, into, maxSmallBody)
}

// ReadJSONUpTo is like ReadJSON, for a body of up to most bytes.
func ReadJSONUpTo(w http.ResponseWriter, r *http.Request, into any, most int64) error {
	if err := CheckJSON(r); err != nil {
		return err
	}
	var value json.RawMessage
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, most))
	err := dec.Decode(&value)
	if err == nil {
		err = Unmarshal(value, into)
	}
	if err == nil {
		if _, err = dec.Token(); err == io.EOF {
			return nil
		}
		err = errors.New("more than one JSON value")
	}
	return Unread(err)
}

// CheckJSON returns a problem if a request's content type is not JSON.
func CheckJSON(r *http.Request) error {
	const wanted = "application/json"
	if said := r.Header.Get("Content-Type"); said != wanted {
		if kind, _, err := mime.ParseMediaType(said); err != nil || kind != wanted {
			return New(http.StatusUnsupportedMediaType, "Send JSON with Content-Type: application/json.")
		}
	}
	return nil
}

// Unread returns the problem for an unreadable body. If err is already a problem, it is returned
// unchanged.
func Unread(err error) error {
	var p *Problem
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &tooLarge):
		return New(http.StatusRequestEntityTooLarge, "The request has more than the %d bytes allowed here.", tooLarge.Limit)
	}
	return New(http.StatusBadRequest, "That can't be read: %s.", describeError(err))
}

// Unmarshal decodes a JSON value, in which unknown keys are an error. It refuses null.
func Unmarshal(value []byte, into any) error {
	if string(value) == "null" {
		return errors.New("it is null instead of an object")
	}
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}

// describeError describes a JSON error without the names of Go types.
func describeError(err error) string {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return clipUnknown(err.Error())
	}
	path := strings.Split(wrong.Field, ".") // the path may contain Go type names
	return Quote(path[len(path)-1]) + " " + hostile.WrongKind(wrong)
}

// clipUnknown shortens the name of an unknown key in an error of encoding/json.
func clipUnknown(text string) string {
	const before = "json: unknown field "
	if name, ok := strings.CutPrefix(text, before); ok {
		if key, err := strconv.Unquote(name); err == nil {
			return before + Quote(key)
		}
	}
	return text
}

// MaxQuoted is the maximum number of bytes that a problem quotes from a request. MaxDetail is the
// maximum length of a detail, including one from another package's error.
const (
	MaxQuoted = 60
	MaxDetail = 600
)

// Quote quotes the beginning of a text from a request, for use in a problem.
func Quote(text string) string { return strconv.Quote(hostile.Clip(text, MaxQuoted)) }

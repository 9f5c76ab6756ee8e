package web

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

	"github.com/chatguard/chatguard/internal/journal"
)

// problem is an error with what its reader may know: an RFC 9457 problem document. The cause stays in the log.
type problem struct {
	Type   string `json:"type"` // always about:blank: the status says it all
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`

	// Mounted is an extension: the dashboard is part of another site, where people sign in.
	Mounted bool `json:"mounted,omitempty"`

	cause      error
	retryAfter int // the header's seconds; 0 means that there is none
}

func (p *problem) Error() string {
	if p.cause != nil {
		return fmt.Sprintf("%s: %v", p.Detail, p.cause)
	}
	return p.Detail
}

func (p *problem) Unwrap() error { return p.cause }

// refuse is a problem with a sentence for people.
func refuse(status int, format string, args ...any) *problem {
	return &problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: fmt.Sprintf(format, args...)}
}

// because adds the cause that only the log shows.
func (p *problem) because(cause error) *problem {
	p.cause = cause
	return p
}

// after says when to try again. Seconds are rounded up.
func (p *problem) after(wait time.Duration) *problem {
	p.retryAfter = max(1, int((wait+time.Second-1)/time.Second))
	return p
}

// mounted says that people sign in on another site.
func (p *problem) mounted() *problem {
	p.Mounted = true
	return p
}

// handler answers a request, or returns the error that render turns into an answer.
type handler func(w http.ResponseWriter, r *http.Request) error

// answered makes a handler of net/http's kind: the one place where errors are rendered and logged.
func (s *Server) answered(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			s.render(w, r, err)
		}
	}
}

func (s *Server) render(w http.ResponseWriter, r *http.Request, err error) {
	var p *problem
	if !errors.As(err, &p) {
		p = refuse(http.StatusInternalServerError, "Something went wrong here; chatguard's log says what.").because(err)
	}
	p.Detail = journal.Clip(p.Detail, maxDetail)
	level := slog.LevelDebug
	if p.Status >= http.StatusInternalServerError {
		level = slog.LevelError
	}
	s.opts.Log.Log(r.Context(), level, "request refused", "method", r.Method, "path", r.URL.Path, "status", p.Status, "error", p.Error())
	if p.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(p.retryAfter))
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	json.NewEncoder(w).Encode(p) // the reader may be gone
}

// writeJSON answers with the value.
func writeJSON(w http.ResponseWriter, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(append(body, '\n')) // the reader may be gone
	return nil
}

// What a request may bring, in bytes.
const (
	maxBody       = 1 << 20  // with a policy, or messages to be judged
	maxSmallBody  = 64 << 10 // with anything else
	maxSecretBody = 4 << 10  // with a secret to sign in, which needs no right
)

// readJSON reads a small request's body: one JSON value without unknown keys, and not null, which says nothing.
func readJSON(w http.ResponseWriter, r *http.Request, into any) error {
	return readJSONUpTo(w, r, into, maxSmallBody)
}

// readJSONUpTo is readJSON for a body of that many bytes at most.
func readJSONUpTo(w http.ResponseWriter, r *http.Request, into any, most int64) error {
	if err := saysJSON(r); err != nil {
		return err
	}
	var value json.RawMessage
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, most))
	err := dec.Decode(&value)
	if err == nil {
		err = strictly(value, into)
	}
	if err == nil {
		if _, err = dec.Token(); err == io.EOF {
			return nil
		}
		err = errors.New("more than one JSON value")
	}
	return errUnread(err)
}

// saysJSON returns a problem where a request doesn't say that it brings JSON.
func saysJSON(r *http.Request) error {
	const wanted = "application/json"
	if said := r.Header.Get("Content-Type"); said != wanted {
		if kind, _, err := mime.ParseMediaType(said); err != nil || kind != wanted {
			return refuse(http.StatusUnsupportedMediaType, "Send JSON, and say so: Content-Type: application/json.")
		}
	}
	return nil
}

// errUnread is the problem of a body that can't be read, or what reading it has found already.
func errUnread(err error) error {
	var p *problem
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &tooLarge):
		return refuse(http.StatusRequestEntityTooLarge, "That is more than the %d bytes a request may have.", tooLarge.Limit)
	}
	return refuse(http.StatusBadRequest, "That can't be read: %s.", inWords(err))
}

// strictly reads a JSON value without unknown keys; null is refused.
func strictly(value []byte, into any) error {
	if string(value) == "null" {
		return errors.New("it is null, where an object is wanted")
	}
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}

// inWords says what is wrong with JSON that can't be read, without the names of Go types.
func inWords(err error) string {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return clipUnknown(err.Error())
	}
	path := strings.Split(wrong.Field, ".") // it names types too that only Go knows of
	return fmt.Sprintf("%s has the wrong kind of value (%s)", quoted(path[len(path)-1]), journal.Clip(wrong.Value, maxQuoted))
}

// clipUnknown shortens the name of a key that encoding/json doesn't know.
func clipUnknown(text string) string {
	const before = "json: unknown field "
	if name, ok := strings.CutPrefix(text, before); ok {
		if key, err := strconv.Unquote(name); err == nil {
			return before + quoted(key)
		}
	}
	return text
}

// maxQuoted is how many bytes of a request a problem quotes, and maxDetail how many a detail has, also one made of another package's error.
const (
	maxQuoted = 60
	maxDetail = 600
)

// quoted is a text of a request as a problem quotes it: not more than its beginning.
func quoted(text string) string { return strconv.Quote(journal.Clip(text, maxQuoted)) }

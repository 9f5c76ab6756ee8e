package web

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
)

// maxText bounds in bytes what a request may bring to find something by: IDs are no longer, and names aren't either.
const maxText = journal.MaxID

const (
	usualPage = 100 // records that are told at once where a request doesn't say
	mostPage  = 500
)

// query reads what a request's address asks for, and keeps the first thing that is wrong with it, as a sentence for people.
type query struct {
	values url.Values
	err    error
}

// asked lets only requests through whose address asks for nothing that isn't known, and names a channel that is served, if any. While no channel is
// known yet, as at the start, any may be named.
func (s *Server) asked(known []parameter, h signedInHandler) signedInHandler {
	var keys []string
	for _, p := range known {
		keys = append(keys, p.Name)
	}
	return func(w http.ResponseWriter, r *http.Request, who caller) error {
		if r.URL.RawQuery == "" {
			return h(w, r, who)
		}
		values := r.URL.Query()
		if err := onlyKnown(values, keys); err != nil {
			return err
		}
		if id := values.Get(inChannel.Name); id != "" {
			if _, err := s.channel(id); err != nil && len(s.opts.Channels()) > 0 {
				return err
			}
		}
		return h(w, r, who)
	}
}

// onlyKnown returns a problem where an address asks for something else.
func onlyKnown(values url.Values, keys []string) error {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		switch {
		case slices.Contains(keys, key):
		case len(keys) == 0:
			return refuse(http.StatusUnprocessableEntity, "Nothing can be asked for here, and %s isn't known.", quoted(key))
		default:
			return refuse(http.StatusUnprocessableEntity, "What can be asked for here is %s, not %s.", strings.Join(keys, ", "), quoted(key))
		}
	}
	return nil
}

func queryOf(r *http.Request) *query { return &query{values: r.URL.Query()} }

func (q *query) fail(format string, args ...any) {
	if q.err == nil {
		q.err = refuse(http.StatusUnprocessableEntity, format, args...)
	}
}

// text returns an ID or a name.
func (q *query) text(key string) string {
	text := q.values.Get(key)
	if len(text) > maxText {
		q.fail("%q is longer than any ID or name: %d bytes are the most.", key, maxText)
	}
	return text
}

// number returns a whole number from least to most; usual where there is none.
func (q *query) number(key string, usual, least, most int64) int64 {
	text := q.values.Get(key)
	if text == "" {
		return usual
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		q.fail("%q is a whole number from %d to %d, not %s.", key, least, most, quoted(text))
	}
	return n
}

// time returns a time; the zero one where there is none.
func (q *query) time(key string) time.Time {
	text := q.values.Get(key)
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.Year() < 1970 || at.Year() > 2115 { // the years that messages can be of
		q.fail("%q is a time such as 2026-01-05T20:00:00Z, not %s.", key, quoted(text))
	}
	return at
}

// oneOf returns one of the texts known, or none.
func oneOf[T ~string](q *query, key string, known []T) T {
	text := T(q.values.Get(key))
	if text != "" && !slices.Contains(known, text) {
		q.fail("%q is one of %s, not %s.", key, strings.Trim(fmt.Sprintf("%q", known), "[]"), quoted(string(text)))
	}
	return text
}

// format is the form that an answer is to have.
type format string

const (
	formatJSON format = "json" // what there is without asking
	formatCSV  format = "csv"
)

// formats are all of them.
var formats = []format{formatJSON, formatCSV}

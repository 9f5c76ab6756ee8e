package problem

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

// MaxText is the maximum length of a search text in bytes. IDs and names are never longer.
const MaxText = journal.MaxID

// Query reads a request's query parameters. It records the first error, as a sentence for people.
type Query struct {
	Err    error // the first one
	values url.Values
}

// OnlyKnown returns a problem if the query has keys other than these.
func OnlyKnown(values url.Values, keys []string) error {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		switch {
		case slices.Contains(keys, key):
		case len(keys) == 0:
			return New(http.StatusUnprocessableEntity, "Unknown parameter %s: this request takes none.", Quote(key))
		default:
			return New(http.StatusUnprocessableEntity, "The parameters here are %s, not %s.", strings.Join(keys, ", "), Quote(key))
		}
	}
	return nil
}

// QueryOf returns the Query of a request.
func QueryOf(r *http.Request) *Query { return &Query{values: r.URL.Query()} }

// Fail records an error, unless there is one already.
func (q *Query) Fail(format string, args ...any) {
	if q.Err == nil {
		q.Err = New(http.StatusUnprocessableEntity, format, args...)
	}
}

// Text returns the value of key, which is an ID or a name, or "" if the key is absent.
func (q *Query) Text(key string) string {
	text := q.values.Get(key)
	if len(text) > MaxText {
		q.Fail("%q is longer than any ID or name: %d bytes at most.", key, MaxText)
	}
	return text
}

// Number returns the value of key, which must be a whole number from least to most, or usual if the
// key is absent.
func (q *Query) Number(key string, usual, least, most int64) int64 {
	text := q.values.Get(key)
	if text == "" {
		return usual
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		q.Fail("%q must be a whole number from %d to %d, not %s.", key, least, most, Quote(text))
	}
	return n
}

// Time returns the value of key, which must be a time, or the zero time if the key is absent.
func (q *Query) Time(key string) time.Time {
	text := q.values.Get(key)
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.Year() < 1970 || at.Year() > 2115 {
		// only these years are valid for messages
		q.Fail("%q must be a time such as 2026-01-05T20:00:00Z, not %s.", key, Quote(text))
	}
	return at
}

// OneOf returns the value of key, which must be one of known, or "" if the key is absent.
func OneOf[T ~string](q *Query, key string, known []T) T {
	text := T(q.values.Get(key))
	if text != "" && !slices.Contains(known, text) {
		q.Fail("%q must be one of %s, not %s.", key, strings.Trim(fmt.Sprintf("%q", known), "[]"), Quote(string(text)))
	}
	return text
}

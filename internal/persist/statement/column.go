package statement

import (
	"database/sql"
	"encoding"
	"strings"
	"time"
)

// Time returns a destination of a scan for a time, which is stored as Unix nanoseconds. NULL is the
// zero time.
func Time(into *time.Time) sql.Scanner { return timeColumn{into} }

type timeColumn struct{ into *time.Time }

// Scan takes a column's value.
func (c timeColumn) Scan(value any) error {
	var n sql.NullInt64
	err := n.Scan(value)
	*c.into = time.Time{}
	if n.Valid {
		*c.into = TimeAt(n.Int64)
	}
	return err
}

// Text returns a destination of a scan for a value that is stored as text.
func Text(into encoding.TextUnmarshaler) sql.Scanner { return textColumn{into} }

type textColumn struct{ into encoding.TextUnmarshaler }

// Scan takes a column's value.
func (c textColumn) Scan(value any) error {
	var text sql.NullString
	if err := text.Scan(value); err != nil {
		return err
	}
	return c.into.UnmarshalText([]byte(text.String))
}

// Names returns a destination of a scan for names that JoinNames has joined.
func Names[S ~[]T, T ~string](into *S) sql.Scanner { return namesColumn[S, T]{into} }

type namesColumn[S ~[]T, T ~string] struct{ into *S }

// Scan takes a column's value.
func (c namesColumn[S, T]) Scan(value any) error {
	var text sql.NullString
	err := text.Scan(value)
	*c.into = SplitNames[S](text.String)
	return err
}

// JoinNames returns the value to store for names without commas.
func JoinNames[S ~[]T, T ~string](names S) string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = string(name)
	}
	return strings.Join(texts, ",")
}

// SplitNames returns the names that JoinNames has joined.
func SplitNames[S ~[]T, T ~string](text string) (names S) {
	if text == "" {
		return nil
	}
	for name := range strings.SplitSeq(text, ",") {
		names = append(names, T(name))
	}
	return names
}

// OptionalTime returns the value to store for a time: Unix nanoseconds, which range from 1678 to
// 2262, or NULL for the zero time.
func OptionalTime(t time.Time) sql.NullInt64 {
	if t.IsZero() {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: t.UnixNano(), Valid: true}
}

// TimeAt returns the time that is stored as Unix nanoseconds.
func TimeAt(nanoseconds int64) time.Time { return time.Unix(0, nanoseconds).UTC() }

package statement

import (
	"database/sql"
	"encoding"
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

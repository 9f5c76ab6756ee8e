package persist

import (
	"database/sql"
	"encoding"
	"time"
)

// TimeColumn scans a time, which is stored as Unix nanoseconds. NULL is the zero time.
type TimeColumn struct{ Into *time.Time }

// Scan takes a column's value.
func (c TimeColumn) Scan(value any) error {
	var n sql.NullInt64
	err := n.Scan(value)
	*c.Into = time.Time{}
	if n.Valid {
		*c.Into = timeAt(n.Int64)
	}
	return err
}

// TextColumn scans a value that is stored as text.
type TextColumn struct{ Into encoding.TextUnmarshaler }

// Scan takes a column's value.
func (c TextColumn) Scan(value any) error {
	var text sql.NullString
	if err := text.Scan(value); err != nil {
		return err
	}
	return c.Into.UnmarshalText([]byte(text.String))
}

package transfer

import (
	"cmp"
	"database/sql"
	"encoding"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist/statement"
	"github.com/chatguard/chatguard/internal/roles"
)

// lineKind is an exported table and the kind of its lines.
type lineKind struct {
	name string // name of both the table and the kind
	// key is the number of leading columns that identify a line within a kind. Lines are sorted by
	// them.
	key     int
	columns []column
	empty   func() line
}

// column is a column of a table, and the field that has the column's value in a line.
type column struct {
	name     string
	path     string // the field's path in JSON, such as outcome.at
	index    []int  // the field's index, for reflection
	required bool   // the field may not be empty
	optional bool   // the column is NULL if the field is zero or null
}

// newKind returns the kind for lines of type T. Each word of columns names a column. If the
// column's field has another name, "=" and the field's path follow. The word ends with "!" if a
// file must contain the field, and with "?" if the column may be NULL.
func newKind[T any, L interface {
	*T
	line
}](name string, key int, columns string) lineKind {
	kind := lineKind{name: name, key: key, empty: func() line {
		l := L(new(T))
		l.setKind(name)
		return l
	}}
	for word := range strings.FieldsSeq(columns) {
		bare := strings.TrimRight(word, "!?")
		c := column{required: strings.Contains(word, "!"), optional: strings.HasSuffix(word, "?")}
		c.name, c.path, _ = strings.Cut(bare, "=")
		c.path = cmp.Or(c.path, c.name)
		c.index = fieldAt(reflect.TypeFor[T](), c.path)
		kind.columns = append(kind.columns, c)
	}
	return kind
}

// fieldAt finds a field by its path in JSON.
func fieldAt(t reflect.Type, path string) []int {
	name, rest, below := strings.Cut(path, ".")
	for _, field := range reflect.VisibleFields(t) {
		if tag, _, _ := strings.Cut(field.Tag.Get("json"), ","); tag != name {
			continue
		}
		if below {
			return append(field.Index, fieldAt(field.Type, rest)...)
		}
		return field.Index
	}
	// a programming error: types and columns are constant
	panic(fmt.Sprintf("%v has no field %s", t, path))
}

// columnNames returns the names of the first n columns.
func (k *lineKind) columnNames(n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = k.columns[i].name
	}
	return strings.Join(names, ", ")
}

// query returns the SELECT for all rows in key order.
func (k *lineKind) query() string {
	return "SELECT " + k.columnNames(len(k.columns)) + " FROM " + k.name + " ORDER BY " + k.columnNames(k.key)
}

func (k *lineKind) insertion() statement.Insertion {
	return statement.Insertion{Into: k.name + " (" + k.columnNames(len(k.columns)) + ")", Columns: len(k.columns), Conflict: "DO NOTHING"}
}

// fields returns pointers to a line's fields, by column.
func (k *lineKind) fields(l line) iter.Seq2[*column, reflect.Value] {
	return func(yield func(*column, reflect.Value) bool) {
		fields := reflect.ValueOf(l).Elem()
		for i := range k.columns {
			if c := &k.columns[i]; !yield(c, fields.FieldByIndex(c.index)) {
				return
			}
		}
	}
}

// texts returns the texts of a line, by path. They may contain any bytes.
func (k *lineKind) texts(l line) iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) {
		for c, field := range k.fields(l) {
			if field.Kind() == reflect.String && !yield(c.path, field) {
				return
			}
		}
	}
}

// scanners returns what rows.Scan needs to fill a line's fields, by column.
func (k *lineKind) scanners(l line) []any {
	into := make([]any, 0, len(k.columns))
	for _, field := range k.fields(l) {
		into = append(into, scanner(field.Addr().Interface()))
	}
	return into
}

// check returns an error if a line of a file has contents that must not be stored in a database.
func (k *lineKind) check(l line) error {
	for c, field := range k.fields(l) {
		var err error
		switch at := field.Addr().Interface().(type) {
		case *time.Time:
			if !c.optional || !at.IsZero() {
				err = checkTime(c.path, *at)
			}
		case *journal.OptionalTime:
			if !at.IsZero() {
				err = checkTime(c.path, at.Time)
			}
		}
		if c.required && field.Len() == 0 {
			err = fmt.Errorf("%s is missing", c.path)
		}
		if err == nil && field.Kind() == reflect.String {
			err = checkText(c.path, field.String())
		}
		if err != nil {
			return err
		}
	}
	return l.check()
}

// values appends the values of a line's columns to args.
func (k *lineKind) values(args []any, l line) []any {
	for c, field := range k.fields(l) {
		args = append(args, valueOf(c, field.Addr().Interface()))
	}
	return args
}

// keyOf returns the values of the columns that identify a line.
func (k *lineKind) keyOf(l line) lineKey {
	key := make(lineKey, 0, k.key)
	for c, field := range k.fields(l) {
		if key = append(key, valueOf(c, field.Addr().Interface())); len(key) == k.key {
			break
		}
	}
	return key
}

// lineKey is the sort key of lines of one kind: texts and whole numbers.
type lineKey []any

func (k lineKey) compare(other lineKey) int {
	for i := range k {
		c := 0
		if text, ok := k[i].(string); ok {
			c = strings.Compare(text, other[i].(string))
		} else {
			c = cmp.Compare(k[i].(int64), other[i].(int64))
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// valueOf returns the column's value, given a pointer to its field.
func valueOf(c *column, at any) any {
	switch at := at.(type) {
	case *time.Time:
		if c.optional && at.IsZero() {
			return nil
		}
		return at.UnixNano()
	case *journal.OptionalTime:
		return valueOf(c, &at.Time)
	case *json.RawMessage:
		return sql.NullString{String: string(*at), Valid: !c.optional || string(*at) != "null"}
	case *chatguard.Action:
		return journal.Action(*at).String()
	case *chatguard.Roles:
		return statement.JoinNames(*at)
	case *roles.Kinds:
		return statement.JoinNames(*at)
	case interface{ MarshalText() ([]byte, error) }:
		text, _ := at.MarshalText() // never fails for chatguard's types
		return string(text)
	}
	switch field := reflect.ValueOf(at).Elem(); {
	case field.Kind() == reflect.String:
		return field.String()
	case field.CanInt():
		return field.Int()
	case field.CanUint():
		return int64(field.Uint())
	default:
		return field.Interface()
	}
}

// scanner returns a sql.Scanner that stores a column's value in a field; at is a pointer to the
// field.
func scanner(at any) any {
	switch at := at.(type) {
	case *time.Time:
		return statement.Time(at)
	case *journal.OptionalTime:
		return statement.Time(&at.Time)
	case *json.RawMessage:
		return &jsonScanner{at}
	case *chatguard.Action:
		return statement.Text((*journal.Action)(at))
	case *chatguard.Roles:
		return statement.Names(at)
	case *roles.Kinds:
		return statement.Names(at)
	case encoding.TextUnmarshaler:
		return statement.Text(at)
	}
	return at
}

// jsonScanner reads stored JSON, or null for NULL.
type jsonScanner struct{ at *json.RawMessage }

// Scan takes the value of a text column.
func (s *jsonScanner) Scan(value any) error {
	var text sql.NullString
	err := text.Scan(value)
	*s.at = json.RawMessage("null")
	if text.Valid {
		*s.at = json.RawMessage(text.String)
	}
	return err
}

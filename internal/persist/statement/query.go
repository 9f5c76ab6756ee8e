package statement

import (
	"context"
	"database/sql"
)

// Query runs a statement and calls the function each for every row. each scans the row.
type Query = func(ctx context.Context, each func(*sql.Rows) error, statement string, args ...any) error

// List returns the rows of a statement; scan reads one.
func List[T any](ctx context.Context, query Query, scan func(rows *sql.Rows, into *T) error, statement string, args ...any) (list []T, err error) {
	err = query(ctx, func(rows *sql.Rows) error {
		var row T
		err := scan(rows, &row)
		list = append(list, row)
		return err
	}, statement, args...)
	return list, err
}

// Texts returns the texts of a statement's only column.
func Texts(ctx context.Context, query Query, statement string, args ...any) ([]string, error) {
	return List(ctx, query, func(rows *sql.Rows, text *string) error { return rows.Scan(text) }, statement, args...)
}

// Map returns the values of a statement's second column, by the texts of its first.
func Map[V any](ctx context.Context, query Query, statement string, args ...any) (map[string]V, error) {
	found := map[string]V{}
	err := query(ctx, func(rows *sql.Rows) error {
		var key string
		var value V
		err := rows.Scan(&key, &value)
		found[key] = value
		return err
	}, statement, args...)
	return found, err
}

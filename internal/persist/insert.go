package persist

import (
	"context"
	"database/sql"
	"strings"
)

// rowsPerStatement is where more rows in one INSERT no longer make it faster.
const rowsPerStatement = 500

// insertion is an INSERT of many rows at a time. Rows in the order of the key are the fastest.
type insertion struct {
	into     string // table (columns)
	columns  int
	conflict string // what happens where the key exists
}

func (in *insertion) statement(rows int) string {
	row := "(?" + strings.Repeat(",?", in.columns-1) + ")"
	return "INSERT INTO " + in.into + " VALUES " + row + strings.Repeat(","+row, rows-1) + " ON CONFLICT " + in.conflict
}

// write inserts rows; values appends the values of row i to args.
func (in *insertion) write(ctx context.Context, tx *sql.Tx, rows int, values func(args []any, i int) []any) error {
	if whole := rows - rows%rowsPerStatement; whole > 0 {
		if err := in.writeRange(ctx, tx, 0, whole, rowsPerStatement, values); err != nil {
			return err
		}
	}
	if rest := rows % rowsPerStatement; rest > 0 {
		return in.writeRange(ctx, tx, rows-rest, rows, rest, values)
	}
	return nil
}

// writeRange inserts the rows from start to end with one statement that takes so many at a time.
func (in *insertion) writeRange(ctx context.Context, tx *sql.Tx, start, end, atATime int, values func(args []any, i int) []any) error {
	stmt, err := tx.PrepareContext(ctx, in.statement(atATime))
	if err != nil {
		return err
	}
	defer stmt.Close()
	args := make([]any, 0, atATime*in.columns)
	for i := start; i < end; i++ {
		if args = values(args, i); len(args) < cap(args) {
			continue
		}
		if _, err := stmt.ExecContext(ctx, args...); err != nil {
			return err
		}
		args = args[:0]
	}
	return nil
}

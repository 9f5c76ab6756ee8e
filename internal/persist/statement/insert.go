// Package statement has the parts of SQL statements that every engine accepts: reading and
// inserting many rows, and the columns for times and texts. It knows no table.
package statement

import (
	"context"
	"database/sql"
	"strings"
)

// RowsPerStatement is the number of rows in one INSERT. More rows wouldn't make it faster.
const RowsPerStatement = 500

// Insertion inserts many rows per statement. It is fastest if the rows are in key order.
type Insertion struct {
	Into     string // table (columns)
	Columns  int
	Conflict string // what to do if the key exists: "DO NOTHING", or "(key) DO UPDATE SET …"
}

// Statement returns the INSERT of that many rows.
func (in *Insertion) Statement(rows int) string {
	row := "(?" + strings.Repeat(",?", in.Columns-1) + ")"
	return "INSERT INTO " + in.Into + " VALUES " + row + strings.Repeat(","+row, rows-1) + " ON CONFLICT " + in.Conflict
}

// Write inserts rows; values appends the values of row i to args.
func (in *Insertion) Write(ctx context.Context, tx *sql.Tx, rows int, values func(args []any, i int) []any) error {
	if whole := rows - rows%RowsPerStatement; whole > 0 {
		if err := in.writeRange(ctx, tx, 0, whole, RowsPerStatement, values); err != nil {
			return err
		}
	}
	if rest := rows % RowsPerStatement; rest > 0 {
		return in.writeRange(ctx, tx, rows-rest, rows, rest, values)
	}
	return nil
}

// writeRange inserts the rows from start to end. It prepares one statement, which inserts atATime
// rows per execution.
func (in *Insertion) writeRange(ctx context.Context, tx *sql.Tx, start, end, atATime int, values func(args []any, i int) []any) error {
	stmt, err := tx.PrepareContext(ctx, in.Statement(atATime))
	if err != nil {
		return err
	}
	defer stmt.Close()
	args := make([]any, 0, atATime*in.Columns)
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

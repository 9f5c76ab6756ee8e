package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
)

// inspect returns the version of a file's schema, or 0 if the file is empty or missing. It returns
// an error for a file that must not be written: damaged, of a newer version, of another program, or
// without a table or column of its version. It changes nothing.
func (s Schema) inspect(ctx context.Context, path string) (version int, err error) {
	return s.inspectWith(ctx, openReader, path)
}

// inspectWith is inspect with the given way to open the file.
func (s Schema) inspectWith(ctx context.Context, open func(path string) (*sql.DB, error), path string) (version int, err error) {
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return 0, checkRescued(path)
	case err == nil && info.Mode().IsRegular() && info.Size() == 0:
		return 0, nil
	case err == nil && !info.Mode().IsRegular():
		return 0, fmt.Errorf("database %s is not a file: set another database", path)
	case err == nil && countNames(info) > 1:
		return 0, TwoNamesError(path)
	}
	reader, err := open(path)
	if err != nil {
		return 0, err
	}
	version, err = s.examine(ctx, reader, path, "quick_check")
	return version, errors.Join(err, reader.Close())
}

// CheckMissing returns an error if the missing database at path must not be created: a process
// still uses it, or its contents are in another file.
func CheckMissing(path string) error {
	if errors.As(CheckOwner(path), new(*OwnedError)) {
		return &Error{path: path, problem: fileGone, err: fs.ErrNotExist}
	}
	return checkRescued(path)
}

// rescuedSuffix is the suffix of the file in which Run saves a database whose file is gone.
const rescuedSuffix = ".rescued"

// checkRescued returns an error if the contents of the missing database at path were rescued.
func checkRescued(path string) error {
	if _, err := os.Stat(path + rescuedSuffix); err != nil {
		return nil
	}
	return fmt.Errorf("database %[1]s doesn't exist, but %[1]s%[2]s has all of it: move that file into its place, or delete it to start with an empty one", path, rescuedSuffix)
}

// TwoNamesError is the error for a file with several hard links. SQLite's write-ahead log and our
// lock belong to a name, so two processes could each have their own.
type TwoNamesError string // the path

func (path TwoNamesError) Error() string {
	return fmt.Sprintf("database %[1]s has another name, too, a hard link that `find / -samefile %[1]s` finds: remove that one, or make a copy instead", string(path))
}

// refusal is the error for a file that can't be used as a database of this program.
type refusal struct {
	path    string
	what    string // what the file is, as in "is damaged"
	fix     string
	copyFix string // the fix if the file is a copy that somebody wants to use
}

func (r *refusal) Error() string { return "database " + r.path + " " + r.what + ": " + r.fix }

// The fixes for a copy.
const (
	useOtherCopy = "use another backup"
	nameBackup   = "name a file that `chatguard backup` wrote"
)

// examine returns the version of the schema of the database at path, and checks its pages with the
// given pragma. The error is a *refusal if the file can't be used.
func (s Schema) examine(ctx context.Context, reader *sql.DB, path, pragma string) (version int, err error) {
	version, refused := s.identify(ctx, reader, path)
	if refused != nil && !errors.As(refused, new(*refusal)) {
		return 0, refused
	}
	var verdict string
	err = reader.QueryRowContext(ctx, "PRAGMA "+pragma+"(1)").Scan(&verdict)
	switch {
	case err != nil:
		return 0, explainAtStart(path, err)
	case refused != nil:
		return 0, refused
	case verdict != "ok":
		return 0, damagedError(path, errors.New(verdict))
	}
	if err := checkEnd(ctx, reader, path); err != nil {
		return 0, err
	}
	return version, s.checkColumns(ctx, reader, path, version)
}

// identify returns the version of a database's schema. The error is a *refusal if the database
// belongs to another program, or to a newer version of this one.
func (s Schema) identify(ctx context.Context, reader *sql.DB, path string) (version int, err error) {
	var owner, tables int
	err = reader.QueryRowContext(ctx, `SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id, pragma_user_version`).Scan(&owner, &version, &tables)
	switch {
	case err != nil:
		return 0, explainAtStart(path, err)
	case tables > 0 && owner != s.Mark:
		return 0, &refusal{path, "belongs to another program", "set another database", nameBackup}
	case tables > 0 && version <= 0:
		return 0, changedError(path, "has tables but no version")
	case version > len(s.Steps):
		return 0, &refusal{path, fmt.Sprintf("was written by a newer chatguard (version %d, this one knows up to %d)", version, len(s.Steps)),
			"update chatguard, or set another database", "update chatguard"}
	}
	return version, nil
}

// checkEnd returns an error if the file is shorter than its pages; SQLite would read zeros for the
// missing bytes. A file with a log may be shorter, because the bytes may be in the log.
func checkEnd(ctx context.Context, reader *sql.DB, path string) error {
	if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 {
		return nil
	}
	var size int64
	if err := reader.QueryRowContext(ctx, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").Scan(&size); err != nil {
		return explainAtStart(path, err)
	}
	if info, err := os.Stat(path); err == nil && info.Size() < size {
		return damagedError(path, fmt.Errorf("%d of %d bytes", info.Size(), size))
	}
	return nil
}

// checkColumns returns an error if the database lacks a table or a column of its version, or has
// one that a later migration would create. Tables and columns of others don't matter.
func (s Schema) checkColumns(ctx context.Context, reader *sql.DB, path string, version int) error {
	found, err := columnsIn(ctx, reader)
	if err != nil {
		return explainAtStart(path, err)
	}
	wanted, err := s.until(version).columns(ctx)
	if err != nil {
		return err
	}
	for _, c := range wanted {
		if slices.Contains(found, c) {
			continue
		}
		missing := fmt.Sprintf("the column %s of the table %s", c.column, c.table)
		if !slices.ContainsFunc(found, func(other tableColumn) bool { return other.table == c.table }) {
			missing = "the table " + c.table
		}
		return changedError(path, "lacks "+missing)
	}
	if version == len(s.Steps) {
		return nil
	}
	later, err := s.columns(ctx)
	if err != nil {
		return nil // the migration reports it
	}
	for _, c := range later {
		if !slices.Contains(wanted, c) && slices.Contains(found, c) {
			return changedError(path, fmt.Sprintf("has the version %d, but the column %s of the table %s, which is newer", version, c.column, c.table))
		}
	}
	return nil
}

func changedError(path, how string) error {
	return &refusal{path, "was changed by another program, and " + how, restoreBackup, useOtherCopy}
}

type tableColumn struct{ table, column string }

// until returns the schema of an earlier version.
func (s Schema) until(version int) Schema { return Schema{s.Mark, s.Steps[:version]} }

// schemas caches the results of Schema.columns by the text of the migrations. Running the
// migrations takes as long as opening a database.
var schemas sync.Map

// columns returns all columns that the migrations create. The caller must not change them.
func (s Schema) columns(ctx context.Context) (columns []tableColumn, err error) {
	all := strings.Join(s.Steps, "\n")
	if known, ok := schemas.Load(all); ok {
		return known.([]tableColumn), nil
	}
	if columns, err = s.makeColumns(ctx); err == nil {
		schemas.Store(all, columns)
	}
	return columns, err
}

func (s Schema) makeColumns(ctx context.Context) (columns []tableColumn, err error) {
	db, err := openMemory()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := s.migrate(ctx, db, 0); err != nil {
		return nil, err
	}
	return columnsIn(ctx, db.Writer)
}

// columnsIn returns all columns of a database's tables.
func columnsIn(ctx context.Context, db *sql.DB) (columns []tableColumn, err error) {
	rows, err := db.QueryContext(ctx, "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'")
	err = scanRows(rows, err, func(rows *sql.Rows) error {
		var c tableColumn
		err := rows.Scan(&c.table, &c.column)
		columns = append(columns, c)
		return err
	})
	return columns, err
}

// explainAtStart is Explain for a database that is being opened, which probably nobody else uses.
func explainAtStart(path string, err error) error {
	if err = Explain(path, err); err != nil && Problem(err) == damaged {
		return damagedError(path, err)
	}
	return err
}

func damagedError(path string, err error) error {
	problem := damagedAtStart
	if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
		problem += foreignLog
	}
	return &Error{path: path, problem: problem, err: &refusal{path, "is damaged", err.Error(), useOtherCopy}}
}

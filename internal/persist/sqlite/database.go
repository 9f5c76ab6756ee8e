// Package sqlite keeps a database in one SQLite file: it opens, locks, migrates, checks, copies and
// repairs the file, and runs statements. Its errors name the file, the problem and the fix. It
// knows no table: a [Schema] says which migrations make the tables.
package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// DB is one SQLite file: one connection that writes, and a few that read without ever
// blocking it.
type DB struct {
	Path   string // as shown to people
	Writer *sql.DB
	Reader *sql.DB
	// LookUps is a separate reader for tokens and sessions, so that long reads don't delay them.
	LookUps *sql.DB
	// statements are those that Query has run, and lookUpStatements those of LookUp.
	statements, lookUpStatements statements

	place *location  // nil in memory
	lock  *ownerLock // nil in memory, or if this process doesn't own the database
	// Migrated is the version before Open migrated the database; 0 if it didn't.
	Migrated int
	// damaged means that a damaged page was found, and that the file hasn't been found intact
	// since. Only the goroutine that calls Recover uses it.
	damaged bool
}

// writerPragmas and readerPragmas keep the caches small, because the bot's memory matters more than
// re-reading pages that the operating system has cached anyway. The write-ahead log is truncated
// after a checkpoint, so that one large flush doesn't leave a large file behind. fullfsync concerns
// macOS, where an ordinary sync leaves data in the disk's cache.
var writerPragmas = []string{
	"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "fullfsync(ON)", "foreign_keys(ON)", "cache_size(-1024)", fmt.Sprintf("journal_size_limit(%d)", maxLog),
}

// lookUpPragmas are those of LookUps. Their timeout is short, so that requests don't wait long.
var lookUpPragmas = []string{"busy_timeout(500)", "query_only(ON)", "cache_size(-64)"}

var readerPragmas = []string{"busy_timeout(5000)", "query_only(ON)", "cache_size(-256)"}

// openDatabase prepares the connections to an existing file. The first statement opens a
// connection.
func openDatabase(path string) (*DB, error) {
	p, err := newLocation(path)
	if err != nil {
		return nil, err
	}
	var pools [3]*sql.DB
	for i, source := range []string{dataSource(path, "rw", writerPragmas), dataSource(path, "ro", readerPragmas), dataSource(path, "ro", lookUpPragmas)} {
		opening, err := newConnector(source, p)
		if err != nil {
			return nil, Explain(path, err) // the pools have no connections yet
		}
		pools[i] = sql.OpenDB(opening)
	}
	return newDB(path, pools, p), nil
}

// newDB returns a DB with these connections: the one that writes, the readers, and those for
// look-ups.
func newDB(path string, pools [3]*sql.DB, place *location) *DB {
	pools[0].SetMaxOpenConns(1)
	limitReaders(pools[1])
	limitReaders(pools[2])
	return &DB{Path: path, Writer: pools[0], Reader: pools[1], LookUps: pools[2], place: place}
}

// openReader prepares connections that can't modify the database at path.
func openReader(path string) (*sql.DB, error) {
	reader, err := sql.Open("sqlite", dataSource(path, "ro", readerPragmas))
	if err != nil {
		return nil, Explain(path, err)
	}
	limitReaders(reader)
	return reader, nil
}

func limitReaders(reader *sql.DB) {
	reader.SetMaxOpenConns(4)
	reader.SetConnMaxIdleTime(time.Minute)
}

// openMemory prepares the connections to a new database in memory, which exists as long as the
// writing connection.
func openMemory() (*DB, error) {
	const inMemory = "&vfs=memdb"
	name := "/" + rand.Text()
	// No other program can lock it, so a look-up may wait as long as other reads.
	toRead := dataSource(name, "rw", readerPragmas)
	var pools [3]*sql.DB
	for i, source := range []string{dataSource(name, "rwc", writerPragmas), toRead, toRead} {
		pool, err := sql.Open("sqlite", source+inMemory)
		if err != nil {
			return nil, err // the pools have no connections yet
		}
		pools[i] = pool
	}
	return newDB("in memory", pools, nil), nil
}

// dataSource puts the connection's settings into the DSN, because pragmas belong to a connection
// and a pool opens new ones at any time.
func dataSource(path, mode string, pragmas []string) string {
	location := filepath.ToSlash(path)
	if !strings.HasPrefix(location, "/") {
		location = "/" + location // C:/… on Windows
	}
	// the file may come from an untrusted person
	pragmas = slices.Concat(pragmas, []string{"trusted_schema(OFF)"})
	settings := url.Values{"mode": {mode}, "_txlock": {"immediate"}, "_dqs": {"0"}, "_pragma": pragmas}
	return (&url.URL{Scheme: "file", Path: location, RawQuery: settings.Encode()}).String()
}

// Query runs a statement and calls the function each for every row. each scans the row.
func (db *DB) Query(ctx context.Context, each func(*sql.Rows) error, statement string, args ...any) error {
	rows, err := db.statements.query(ctx, db.Reader, statement, args)
	return Explain(db.Path, scanRows(rows, err, each))
}

// LookUp is like Query, but never waits for a running Query, and waits less for other programs.
func (db *DB) LookUp(ctx context.Context, each func(*sql.Rows) error, statement string, args ...any) error {
	rows, err := db.lookUpStatements.query(ctx, db.LookUps, statement, args)
	err = scanRows(rows, err, each)
	if err != nil && ctx.Err() == nil {
		closeIdleOf(db.LookUps) // a connection that has failed may have cached a damaged page
	}
	return Explain(db.Path, err)
}

// scanRows calls each for every row, and closes rows. It returns failed if that isn't nil.
func scanRows(rows *sql.Rows, failed error, each func(*sql.Rows) error) (err error) {
	if failed != nil {
		return failed
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// reconnect closes idle connections, so that the next statement opens a new one. An old connection
// may be useless for two reasons. If it was opened while the file was read-only, the connection and
// the files beside the database stay read-only. If it has read a damaged page, it may have cached
// that page.
func (db *DB) reconnect() {
	if db.place == nil {
		return // the connection is the database
	}
	db.closeIdle()
	if info, err := os.Stat(db.Path); err == nil {
		for _, beside := range []string{"-wal", "-shm"} { // SQLite gave them the file's permissions
			// They may be missing, and if they still can't be written, the next write fails.
			_ = os.Chmod(db.Path+beside, info.Mode().Perm())
		}
	}
}

// idleConnections is the maximum number of idle connections, the default of database/sql.
const idleConnections = 2

// closeIdle closes all idle connections, and reports whether no connection is open now. If so, the
// next one may open another log. The writer's connection is closed last, because closing the last
// connection empties the log, and a reader isn't allowed to do that.
func (db *DB) closeIdle() (all bool) {
	db.place.gate.Lock()
	defer db.place.gate.Unlock()
	left := 0
	for _, pool := range []*sql.DB{db.LookUps, db.Reader, db.Writer} {
		closeIdleOf(pool)
		left += pool.Stats().OpenConnections
	}
	if left == 0 { // the pools also count connections that are about to be opened
		db.place.forget()
	}
	return left == 0
}

func closeIdleOf(pool *sql.DB) {
	pool.SetMaxIdleConns(0)
	pool.SetMaxIdleConns(idleConnections)
}

// EachRow calls do with each row of a query that returns the given number of columns. do must not
// keep the row. Integers are int64 and texts are string, as declared by the table. EachRow bypasses
// the conversions of database/sql, which would double the time per row. It stops at do's first
// error and returns that error.
func (db *DB) EachRow(ctx context.Context, columns int, query string, args []any, do func(row []driver.Value) error) (err error) {
	conn, err := db.Reader.Conn(ctx)
	if err != nil {
		return Explain(db.Path, err)
	}
	defer func() { err = Explain(db.Path, errors.Join(err, conn.Close())) }()
	return conn.Raw(func(raw any) error { return eachRowOf(ctx, raw.(driver.QueryerContext), columns, query, args, do) })
}

func eachRowOf(
	ctx context.Context, conn driver.QueryerContext, columns int, query string, args []any, do func(row []driver.Value) error,
) (err error) {
	named := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	rows, err := conn.QueryContext(ctx, query, named)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]driver.Value, columns)
	for {
		switch err := rows.Next(row); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := do(row); err != nil {
			return err
		}
	}
}

// String names the database for people.
func (db *DB) String() string { return "database " + db.Path }

// InMemory reports whether the database is in memory.
func (db *DB) InMemory() bool { return db.place == nil }

// Used returns how many bytes the contents of the database take.
func (db *DB) Used(ctx context.Context) (bytes int64, err error) {
	err = db.Query(ctx, func(rows *sql.Rows) error { return rows.Scan(&bytes) },
		"SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size")
	return bytes, err
}

// Size returns the number of bytes that the database has on disk, including its log. It is 0 for a
// database in memory.
func (db *DB) Size() (bytes int64) {
	if db.InMemory() {
		return 0
	}
	for _, name := range []string{db.Path, db.Path + "-wal"} {
		if info, err := os.Stat(name); err == nil { // there may be no log
			bytes += info.Size()
		}
	}
	return bytes
}

// Close closes the database and releases its ownership.
func (db *DB) Close() error {
	// Close the writer last, as closeIdle does.
	err := Explain(db.Path, errors.Join(db.LookUps.Close(), db.Reader.Close(), db.Writer.Close()))
	if db.lock != nil {
		err = errors.Join(err, db.lock.release())
	}
	return err
}

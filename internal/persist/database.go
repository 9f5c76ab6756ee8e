package persist

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// database is one SQLite file: a single connection that writes, and a few that read without ever blocking it.
type database struct {
	path        string // as a person should see it
	writer      *sql.DB
	reader      *sql.DB
	lookUps     *sql.DB     // one more reader, for who may come in: long reads don't hold it up
	file        os.FileInfo // of the file that was opened; nil in memory
	reconnected func()      // closes the connection of lookUps; nil before there is one
	was         int         // its version, where opening it has brought it up to date; 0 otherwise
}

// The caches are small because the bot's memory matters more than re-reading pages that the operating system has anyway. The log is cut
// back after each checkpoint, so that one large flush doesn't leave a large file for good.
var writerPragmas = []string{
	"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(ON)", "cache_size(-1024)", "journal_size_limit(4194304)",
}

var readerPragmas = []string{"busy_timeout(5000)", "query_only(ON)", "cache_size(-256)"}

// openDatabase prepares the connections to a file that is there; the first statement opens one.
func openDatabase(path string) (*database, error) {
	writer, err := sql.Open("sqlite", dataSource(path, "rw", writerPragmas))
	if err != nil {
		return nil, explain(path, err)
	}
	writer.SetMaxOpenConns(1)
	reader, err := openReader(path)
	if err != nil {
		return nil, errors.Join(err, writer.Close())
	}
	lookUps, err := sql.Open("sqlite", dataSource(path, "ro", lookUpPragmas))
	if err != nil {
		return nil, errors.Join(explain(path, err), writer.Close(), reader.Close())
	}
	lookUps.SetMaxIdleConns(-1) // one that has failed may remember a damaged page
	file, err := os.Stat(path)
	if err != nil {
		return nil, errors.Join(unwritable(path, err), writer.Close(), reader.Close(), lookUps.Close())
	}
	return &database{path: path, writer: writer, reader: reader, lookUps: lookUps, file: file}, nil
}

// openReader prepares connections that can't change the database at path.
func openReader(path string) (*sql.DB, error) {
	reader, err := sql.Open("sqlite", dataSource(path, "ro", readerPragmas))
	if err != nil {
		return nil, explain(path, err)
	}
	limitReaders(reader)
	return reader, nil
}

func limitReaders(reader *sql.DB) {
	reader.SetMaxOpenConns(4)
	reader.SetConnMaxIdleTime(time.Minute)
}

// openMemory prepares the connections to a new database in memory, which is there as long as the writing one.
func openMemory() (*database, error) {
	const inMemory = "&vfs=memdb"
	name := "/" + rand.Text()
	writer, err := sql.Open("sqlite", dataSource(name, "rwc", writerPragmas)+inMemory)
	if err != nil {
		return nil, err
	}
	writer.SetMaxOpenConns(1)
	reader, err := sql.Open("sqlite", dataSource(name, "rw", readerPragmas)+inMemory)
	if err != nil {
		return nil, errors.Join(err, writer.Close())
	}
	limitReaders(reader)
	lookUps, err := sql.Open("sqlite", dataSource(name, "rw", lookUpPragmas)+inMemory)
	if err != nil {
		return nil, errors.Join(err, writer.Close(), reader.Close())
	}
	return &database{path: "in memory", writer: writer, reader: reader, lookUps: lookUps}, nil
}

// dataSource spells the connection's settings in the DSN, because pragmas belong to a connection and a pool makes new ones as it likes.
func dataSource(path, mode string, pragmas []string) string {
	location := filepath.ToSlash(path)
	if !strings.HasPrefix(location, "/") {
		location = "/" + location // C:/… on Windows
	}
	pragmas = slices.Concat(pragmas, []string{"trusted_schema(OFF)"}) // the file may be anybody's
	settings := url.Values{"mode": {mode}, "_txlock": {"immediate"}, "_dqs": {"0"}, "_pragma": pragmas}
	return (&url.URL{Scheme: "file", Path: location, RawQuery: settings.Encode()}).String()
}

// write runs change in a transaction of its own. Errors of the database come back as trouble; a refusal that change returns comes back as it is.
func (db *database) write(ctx context.Context, change func(*sql.Tx) error) error {
	return db.wrote(db.transact(ctx, db.writer, change))
}

// wrote is the end of a write.
func (db *database) wrote(err error) error {
	err = explain(db.path, err)
	if failed := (*trouble)(nil); errors.As(err, &failed) && (failed.problem == cantWrite || failed.problem == damaged) {
		db.reconnect()
	}
	return err
}

// beginner is a pool of connections, or one of them.
type beginner interface {
	BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error)
}

func (db *database) transact(ctx context.Context, writer beginner, change func(*sql.Tx) error) error {
	if err := db.checkPlace(); err != nil {
		return err
	}
	tx, err := writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after Commit
	if err := change(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// query calls each, which scans it, with every row that a statement finds.
func (db *database) query(ctx context.Context, each func(*sql.Rows) error, statement string, args ...any) (err error) {
	defer func() { err = explain(db.path, err) }()
	rows, err := db.reader.QueryContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// reconnect closes the connections that nobody uses, so that the next statement opens another: one to a file that couldn't be written when it
// was opened stays so, also for those beside it, and one that has met a damaged page may remember it.
func (db *database) reconnect() {
	if db.file == nil {
		return // the connection is the database
	}
	db.reconnectReaders()
	if db.reconnected != nil {
		db.reconnected()
	}
	db.writer.SetMaxIdleConns(0)
	db.writer.SetMaxIdleConns(idleConnections)
	if info, err := os.Stat(db.path); err == nil {
		for _, beside := range []string{"-wal", "-shm"} { // SQLite made them as writable as the file was
			_ = os.Chmod(db.path+beside, info.Mode().Perm()) // they may be missing, and what still can't be written shows itself
		}
	}
}

// idleConnections is how many connections stay open that nobody uses; database/sql's own number.
const idleConnections = 2

func (db *database) reconnectReaders() {
	db.reader.SetMaxIdleConns(0)
	db.reader.SetMaxIdleConns(idleConnections)
}

// eachRow calls do with each row of a query that has so many columns, which it may not keep: integers as int64, texts as string, as the table's types
// have them. It goes past the conversions of database/sql, which cost as much again as reading a row. It ends early with do's error.
func (db *database) eachRow(ctx context.Context, columns int, query string, args []any, do func(row []driver.Value) error) (err error) {
	conn, err := db.reader.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
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

func (db *database) close() error {
	// The writer goes last: closing the last connection empties the log, which a reader may not.
	return explain(db.path, errors.Join(db.lookUps.Close(), db.reader.Close(), db.writer.Close()))
}

// The database keeps an instant as Unix nanoseconds, which reach from 1678 to 2262, and the zero time as NULL.

func optionalTime(t time.Time) sql.NullInt64 {
	if t.IsZero() {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: t.UnixNano(), Valid: true}
}

func timeOf(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return timeAt(n.Int64)
}

func timeAt(nanoseconds int64) time.Time { return time.Unix(0, nanoseconds).UTC() }

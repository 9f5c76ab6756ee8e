package persist

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"time"
)

// database is one SQLite file: a single connection that writes, and a few that read without ever blocking it.
type database struct {
	path   string // as a person should see it
	writer *sql.DB
	reader *sql.DB
}

// The caches are small because the bot's memory matters more than re-reading pages that the operating system has anyway. The log is cut
// back after each checkpoint, so that one large flush doesn't leave a large file for good.
var writerPragmas = []string{
	"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(NORMAL)", "foreign_keys(ON)", "cache_size(-1024)", "journal_size_limit(4194304)",
}

var readerPragmas = []string{"busy_timeout(5000)", "query_only(ON)", "cache_size(-256)"}

// openDatabase prepares the connections; the first statement opens one. The mode is SQLite's: rw, or rwc to make a missing file.
func openDatabase(path, mode string) (*database, error) {
	writer, err := sql.Open("sqlite", dataSource(path, mode, writerPragmas))
	if err != nil {
		return nil, explain(path, err)
	}
	writer.SetMaxOpenConns(1)
	reader, err := openReader(path)
	if err != nil {
		return nil, errors.Join(err, writer.Close())
	}
	return &database{path: path, writer: writer, reader: reader}, nil
}

// openReader prepares connections that can't change the database at path.
func openReader(path string) (*sql.DB, error) {
	reader, err := sql.Open("sqlite", dataSource(path, "ro", readerPragmas))
	if err != nil {
		return nil, explain(path, err)
	}
	reader.SetMaxOpenConns(4)
	reader.SetConnMaxIdleTime(time.Minute)
	return reader, nil
}

// dataSource spells the connection's settings in the DSN, because pragmas belong to a connection and a pool makes new ones as it likes.
func dataSource(path, mode string, pragmas []string) string {
	location := filepath.ToSlash(path)
	if !strings.HasPrefix(location, "/") {
		location = "/" + location // C:/… on Windows
	}
	settings := url.Values{"mode": {mode}, "_txlock": {"immediate"}, "_dqs": {"0"}, "_pragma": pragmas}
	return (&url.URL{Scheme: "file", Path: location, RawQuery: settings.Encode()}).String()
}

// write runs change in a transaction of its own. Errors of the database come back as trouble; a refusal that change returns comes back as it is.
func (db *database) write(ctx context.Context, change func(*sql.Tx) error) error {
	tx, err := db.writer.BeginTx(ctx, nil)
	if err != nil {
		return explain(db.path, err)
	}
	defer tx.Rollback() // does nothing after Commit
	if err := change(tx); err != nil {
		return explain(db.path, err)
	}
	return explain(db.path, tx.Commit())
}

func (db *database) close() error {
	// The writer goes last: closing the last connection empties the log, which a reader may not.
	return explain(db.path, errors.Join(db.reader.Close(), db.writer.Close()))
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

package persist

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"

	"github.com/chatguard/chatguard/internal/persist/sqlite"
)

// database is what the resources need of a database engine. Errors name the problem and the fix.
type database interface {
	// Query runs a statement and calls the function each for every row. each scans the row.
	Query(ctx context.Context, each func(*sql.Rows) error, statement string, args ...any) error
	// EachRow is like Query for many rows of a given number of columns. do must not keep the row.
	// Integers are int64, texts are string, and blobs are []byte.
	EachRow(ctx context.Context, columns int, statement string, args []any, do func(row []driver.Value) error) error
	// Write runs change in a transaction. It returns an error of change unchanged.
	Write(ctx context.Context, change func(*sql.Tx) error) error
	// String names the database for people, as in "database chatguard.db".
	fmt.Stringer
}

// Tables with the index that a query must use: the engine would choose another one.
var (
	journalByUser       = "journal" + sqlite.IndexedBy("journal_user")
	journalByTime       = "journal" + sqlite.IndexedBy("journal_at")
	journalByThrottling = "journal" + sqlite.IndexedBy("journal_throttling")
	personByName        = "person" + sqlite.IndexedBy("person_name")
	personByLastSeen    = "person" + sqlite.IndexedBy("person_last_seen")
)

// jsonOf encodes a list of numbers or texts, so that a statement can take many of them at once.
func jsonOf[T any](list []T) string {
	if list == nil {
		return "[]" // not null, which SQLite reads as one NULL
	}
	data, err := json.Marshal(list)
	if err != nil {
		panic(err) // such lists are always valid JSON
	}
	return string(data)
}

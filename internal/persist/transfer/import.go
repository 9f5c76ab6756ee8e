package transfer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
)

// Imported is the result of Import.
type Imported struct {
	Path string    // path of the database
	Rows int64     // imported rows
	At   time.Time // when the rows were exported
	// Kept is the path of the copy of the replaced contents; empty if there were none.
	Kept string
}

// Import loads an export, plain or gzip, into the database at path. It creates a missing database.
// No process may own the database meanwhile. Import keeps sign-ins. If the database has other
// contents, Import returns an error. With Options.Replace, it instead replaces the contents and
// keeps a copy of them beside the database. After an error, or if the process is killed, the
// database is unchanged. name identifies the export in messages about its lines. The error is an
// *OwnedError if another process owns the database, and the context's if the context ends. Any
// other error is one line that names the line or the file, and the fix.
func Import(ctx context.Context, path string, r io.Reader, name string, opts *Options) (Imported, error) {
	im := &importer{name: name, opts: opts.withDefaults(), last: map[string]lineKey{}}
	if err := im.open(r); err != nil { // before Import creates or locks anything
		return Imported{}, err
	}
	imported := Imported{At: im.at}
	err := persist.Schema.Own(ctx, path, func(db *sqlite.Owned) error {
		imported.Path = db.Path
		return db.Write(ctx, func(tx *sql.Tx) error { return im.importInto(ctx, tx, db) })
	})
	if err != nil {
		return Imported{}, err
	}
	imported.Rows, imported.Kept = im.rows, im.kept
	return imported, nil
}

// importInto imports the lines into a database in one transaction.
func (im *importer) importInto(ctx context.Context, tx *sql.Tx, db *sqlite.Owned) error {
	holds, err := im.makeRoom(ctx, tx, db.Path)
	if err != nil {
		return err
	}
	if err := im.readAll(ctx, tx); err != nil {
		return err
	}
	if err := im.knowPeople(ctx, tx); err != nil {
		return err
	}
	if holds {
		return im.keepCopy(ctx, db)
	}
	return nil
}

// knowPeople adds the people and names in the journal of an older export, as the migrations do for
// an older database. The timeline of such an export covers only two days. Then knowPeople makes all
// people searchable by their names.
func (im *importer) knowPeople(ctx context.Context, tx *sql.Tx) error {
	var statements []string
	if im.format < 3 {
		statements = append(statements, "INSERT INTO person (channel_id, user_id, login, roles, last_seen) SELECT channel_id, user_id, login, '', max(at) FROM journal GROUP BY channel_id, user_id")
	}
	if im.format < 4 {
		statements = append(statements, persist.NamesFromJournal)
	}
	for _, statement := range append(statements, persist.NameKeys) {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// makeRoom empties the tables, and reports whether they contained anything.
func (im *importer) makeRoom(ctx context.Context, tx *sql.Tx, path string) (held bool, err error) {
	for _, kind := range lineKinds {
		var holds bool
		if err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM "+kind.name+")").Scan(&holds); err != nil {
			return false, err
		}
		if holds && !im.opts.Replace {
			return false, fmt.Errorf("database %s isn't empty (table %s): replace its contents with --replace, or set another database", path, kind.name)
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM "+kind.name); err != nil {
			return false, err
		}
		held = held || holds
	}
	return held, nil
}

// keepCopy makes a copy of the contents that will be replaced. A separate connection still sees
// them until the commit. keepCopy is called last, so that an export that can't be imported leaves
// no copy.
func (im *importer) keepCopy(ctx context.Context, db *sqlite.Owned) error {
	src, err := db.Snapshot()
	if err != nil {
		return err
	}
	defer src.Close()
	for n := 1; ; n++ {
		target := db.Path + ".before-import"
		if n > 1 {
			target = fmt.Sprintf("%s.%d", target, n)
		}
		kept, err := copyTo(ctx, src, target, Options{Progress: im.opts.Progress, Now: im.opts.Now})
		if errors.As(err, new(*sqlite.ExistsError)) {
			continue
		}
		im.kept = kept.Path
		return err
	}
}

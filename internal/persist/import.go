package persist

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// Imported is what Import has done.
type Imported struct {
	Path string    // of the database
	Rows int64     // that were imported
	At   time.Time // when they were exported
	Kept string    // path of the copy of what was replaced; empty where there was nothing
}

// Import puts an export, plain or gzip, into the database at path, which it makes where there is none, and which nobody may own meanwhile. Sign-ins
// stay. What else the database holds is refused, or replaced where the options say so; then a copy of it is kept beside it. It is all or nothing:
// after an error, or the end of the process, the database holds what it held before. The name is for messages about the lines. The
// error is an *OwnedError where another process owns the database, and the context's where that ends; any other is one line that names the line
// or the file, and the mend.
func Import(ctx context.Context, path string, r io.Reader, name string, opts *CopyOptions) (Imported, error) {
	im := &importer{name: name, opts: opts.withDefaults(), last: map[string]lineKey{}}
	if err := im.open(r); err != nil { // before anything is made or owned
		return Imported{}, err
	}
	path, err := realPath(path)
	if err != nil {
		return Imported{}, unwritable(path, err)
	}
	lock, err := lockDatabase(path)
	if err != nil {
		return Imported{}, err
	}
	err = errors.Join(im.into(ctx, path), lock.release())
	if err != nil {
		return Imported{}, err
	}
	return Imported{Path: path, Rows: im.rows, At: im.at, Kept: im.kept}, nil
}

// into imports into a database whose ownership is ours, and leaves none behind that wasn't there before when it fails.
func (im *importer) into(ctx context.Context, path string) error {
	_, err := os.Lstat(path)
	isNew := errors.Is(err, fs.ErrNotExist)
	steps, err := readMigrations(migrationFiles)
	if err != nil {
		return err
	}
	db, err := openOwned(ctx, path, steps)
	if err == nil {
		err = errors.Join(im.writeInto(ctx, db, len(steps)), db.close())
	}
	if err != nil && isNew {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			os.Remove(path + suffix) // where this fails, there is an empty database
		}
	}
	return err
}

func (im *importer) writeInto(ctx context.Context, db *database, version int) error {
	return db.write(ctx, func(tx *sql.Tx) error {
		holds, err := im.makeRoom(ctx, tx, db.path)
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
			return im.keep(ctx, db.path, version)
		}
		return nil
	})
}

// knowPeople makes people of an older export's journal, as the migration does of an older database's: its timeline knows them for two days only.
func (im *importer) knowPeople(ctx context.Context, tx *sql.Tx) error {
	if im.format >= 3 {
		return nil
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO person SELECT channel_id, user_id, login, 0, max(at) FROM journal GROUP BY channel_id, user_id")
	return err
}

// makeRoom empties the tables, and says whether they held anything.
func (im *importer) makeRoom(ctx context.Context, tx *sql.Tx, path string) (held bool, err error) {
	for _, kind := range lineKinds {
		var holds bool
		if err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM "+kind.name+")").Scan(&holds); err != nil {
			return false, err
		}
		if holds && !im.opts.Replace {
			return false, fmt.Errorf("database %s isn't empty (table %s): replace what it holds with --replace, or set another database", path, kind.name)
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM "+kind.name); err != nil {
			return false, err
		}
		held = held || holds
	}
	return held, nil
}

// keep leaves a copy of what is about to be replaced, which others still see until the commit. It comes last, so that a file that can't be
// imported leaves none.
func (im *importer) keep(ctx context.Context, path string, version int) error {
	src, err := openSnapshots(path, version, version)
	if err != nil {
		return err
	}
	defer src.db.Close()
	taken := &existsError{}
	for n := 1; ; n++ {
		target := path + ".before-import"
		if n > 1 {
			target = fmt.Sprintf("%s.%d", target, n)
		}
		kept, err := src.copyTo(ctx, target, CopyOptions{Progress: im.opts.Progress, Now: im.opts.Now})
		if errors.As(err, &taken) {
			continue
		}
		im.kept = kept.Path
		return err
	}
}

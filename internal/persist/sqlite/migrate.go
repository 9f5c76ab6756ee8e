package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Schema says how a program marks its database files, and which migrations make the tables.
type Schema struct {
	Mark  int      // application ID of the file, which the first migration sets
	Steps []string // migrations: step i is a script that migrates a database from version i to i+1
}

// ReadMigrations returns the scripts of migrations/0001_*.sql, 0002_*.sql … in order, for
// Schema.Steps.
func ReadMigrations(files fs.FS) ([]string, error) {
	names, err := fs.Glob(files, "migrations/*.sql") // sorted
	if err != nil {
		return nil, err
	}
	var steps []string
	for i, name := range names {
		if want := fmt.Sprintf("%04d_", i+1); !strings.HasPrefix(path.Base(name), want) {
			return nil, fmt.Errorf("migration %s: its name should begin with %s", name, want)
		}
		script, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		steps = append(steps, string(script))
	}
	return steps, nil
}

// migrate runs all steps after the given version of the database in one transaction, which also
// records the new version. If there are steps to run and the version isn't 0, migrate first copies
// the database.
func (s Schema) migrate(ctx context.Context, db *DB, version int) error {
	steps := s.Steps
	if version > 0 && version < len(steps) {
		if err := s.keepCopy(ctx, db.Path, version); err != nil {
			return fmt.Errorf("copy before migration: %w", err)
		}
	}
	if version == 1 { // other users could read databases of version 1
		if err := os.Chmod(db.Path, 0o600); err != nil {
			return unwritableError(db.Path, err)
		}
	}
	if version == len(steps) {
		return nil
	}
	err := db.Write(ctx, func(tx *sql.Tx) error {
		for ; version < len(steps); version++ {
			if _, err := tx.ExecContext(ctx, steps[version]); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version))
		return err
	})
	if err != nil {
		return fmt.Errorf("migration to version %d: %w", min(version+1, len(steps)), err)
	}
	return nil
}

// CopyPath returns the path of the copy that a migration keeps: chatguard.db.v1 for version 1.
func CopyPath(path string, version int) string { return fmt.Sprintf("%s.v%d", path, version) }

// keepCopy copies the database in its present state to a file beside it.
func (s Schema) keepCopy(ctx context.Context, path string, version int) error {
	src, err := s.openReadOnly(path, version)
	if err != nil {
		return err
	}
	defer src.Close()
	// a failed migration may have left a copy: replace it
	_, _, err = src.Copy(ctx, CopyPath(path, version), true, nil)
	return err
}

// checkCurrent returns an error if a database isn't of the schema's last version.
func (s Schema) checkCurrent(ctx context.Context, reader *sql.DB, path string) error {
	version, err := s.identify(ctx, reader, path)
	if err == nil {
		err = s.checkColumns(ctx, reader, path, version)
	}
	if err == nil && version < len(s.Steps) {
		err = fmt.Errorf("database %s has an older version: start `chatguard run` once, which updates it", path)
	}
	return err
}

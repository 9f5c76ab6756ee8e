//go:build !race

package restore

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/persist/persisttest"
	"github.com/chatguard/chatguard/internal/persist/transfer"
	"github.com/chatguard/chatguard/internal/turntest"
)

func init() {
	childRoles["start"] = startUntilCut
	childRoles["restored"] = acknowledging(func(ctx context.Context, in *installation) error {
		_, err := Run(ctx, in.backup, in.options())
		return err
	})
	childRoles["imported"] = acknowledging(func(ctx context.Context, in *installation) error {
		export, err := os.Open(in.backup)
		if err != nil {
			return err
		}
		defer export.Close()
		_, err = transfer.Import(ctx, in.places().Database, export, in.backup, &transfer.Options{Replace: true})
		return err
	})
	childRoles["copied"] = acknowledging(func(ctx context.Context, in *installation) error {
		_, err := transfer.Backup(ctx, in.places().Database, filepath.Join(in.folder, "copy.db"), nil)
		return err
	})
	childRoles["sealed"] = acknowledging(func(ctx context.Context, in *installation) error {
		_, err := transfer.BackupComplete(ctx, in.places(), filepath.Join(in.folder, "copy.age"), passphrase, nil)
		return err
	})
}

// acknowledging returns a role that does something with an installation and acknowledges it.
func acknowledging(do func(context.Context, *installation) error) func(context.Context, string) error {
	return func(ctx context.Context, path string) error {
		if err := do(ctx, &installation{folder: filepath.Dir(path), backup: os.Getenv(backupVariable)}); err != nil {
			return err
		}
		return persisttest.Acknowledge("done")
	}
}

// startUntilCut opens a store, makes changes, one after another, and stops cleanly.
func startUntilCut(ctx context.Context, path string) error {
	s, err := persist.Open(ctx, path, &persist.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	g, err := chatguard.New(persisttest.Policy(), &chatguard.Options{Observer: s.Observe})
	if err == nil {
		_, err = s.Restore(ctx, g)
	}
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	ran := make(chan error, 1)
	go func() { ran <- s.Run(running, g) }()
	for i := range 3 {
		user := fmt.Sprint("user", i)
		if _, err := g.Check(ctx, persisttest.Message(user, persisttest.Start)); err != nil {
			return err
		}
		saved, err := s.Record(ctx, journal.Audit{At: persisttest.Start, Author: "Ada", Action: "grant", ChannelID: "c1", UserID: user})
		if !saved || err != nil {
			return fmt.Errorf("saved %v, %w", saved, err)
		}
		if err := persisttest.Acknowledge(user); err != nil {
			return err
		}
	}
	stop()
	if err := errors.Join(<-ran, s.Close()); err != nil {
		return err
	}
	return persisttest.Acknowledge("stopped")
}

// left is an installation after a cut, as the next start finds it.
type left struct {
	*installation
	acks   []string // what was acknowledged before
	login  string   // of the database's channel; "" if there is none
	audits int      // acknowledged changes that are there
}

// look finishes what was interrupted, and opens the database.
func (in *installation) look(t *testing.T, cut *persisttest.Cut) *left {
	t.Helper()
	cut.Leave(t, in.folder)
	_, err := Finish(in.places())
	persisttest.Must(t, err)
	s, err := persist.Open(ctx, in.places().Database, &persist.Options{Logger: slog.New(slog.DiscardHandler)})
	persisttest.Must(t, err)
	g, err := chatguard.New(persisttest.Policy(), nil)
	persisttest.Must(t, err)
	_, err = s.Restore(ctx, g)
	persisttest.Must(t, errors.Join(err, s.Close()))
	for _, name := range Abandoned(in.places()) {
		t.Errorf("%s is left", name)
	}
	l := &left{installation: in, acks: cut.Acks, login: loginIn(t, in.places().Database)}
	persisttest.Must(t, query(t, in.places().Database, "SELECT count(*) FROM audit", &l.audits))
	return l
}

// loginIn returns the login of a database's channel, or "" if there is none.
func loginIn(t *testing.T, path string) (login string) {
	t.Helper()
	if err := query(t, path, "SELECT login FROM channel", &login); !errors.Is(err, sql.ErrNoRows) {
		persisttest.Must(t, err)
	}
	return login
}

func query(t *testing.T, path, text string, into any) error {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	persisttest.Must(t, err)
	defer db.Close()
	return db.QueryRow(text).Scan(into)
}

// wantStarted checks that all acknowledged changes are there, and nothing else but the next one.
func (l *left) wantStarted(t *testing.T) {
	t.Helper()
	saved := min(len(l.acks), 3) // the fourth is that it has stopped
	if l.audits < saved || l.audits > saved+1 {
		t.Errorf("%d changes are there, %d were acknowledged", l.audits, saved)
	}
}

// wantStartedWith is wantStarted for a database that was there before.
func (l *left) wantStartedWith(t *testing.T) {
	t.Helper()
	l.wantStarted(t)
	if l.login != "old" {
		t.Errorf("the database is %q", l.login)
	}
}

// wantEither checks that the database has the old or the new contents, and the new ones if that is
// acknowledged.
func (l *left) wantEither(t *testing.T) {
	t.Helper()
	if l.login != "new" && (l.login != "old" || len(l.acks) > 0) {
		t.Errorf("the database is %q", l.login)
	}
}

// wantAllOrNothing checks that the whole installation is old or new.
func (l *left) wantAllOrNothing(t *testing.T) {
	t.Helper()
	l.wantEither(t)
	for _, part := range []int{configurationPart, loginPart} {
		want := map[string][]byte{"old": l.old[part], "new": l.now[part]}[l.login]
		if !bytes.Equal(read(t, l.names()[part]), want) {
			t.Errorf("with the %s database, %s is %q", l.login, l.names()[part], read(t, l.names()[part]))
		}
	}
}

// wantCopied checks that the database is untouched, and that a copy is whole or not there.
func (l *left) wantCopied(t *testing.T) {
	t.Helper()
	if l.login != "old" {
		t.Errorf("the database is %q", l.login)
	}
	for _, name := range []string{"copy.db", "copy.age"} {
		copied := filepath.Join(l.folder, name)
		if _, err := os.Stat(copied); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		elsewhere := &installation{folder: t.TempDir()}
		_, err := Run(ctx, copied, elsewhere.options())
		persisttest.Must(t, err)
		if login := loginIn(t, elsewhere.places().Database); login != "old" {
			t.Errorf("%s has the database %q", name, login)
		}
		l.acks = nil
	}
	if len(l.acks) > 0 {
		t.Error("the copy is lost")
	}
}

// newCopy returns a backup of a database with a channel of that login. It has no log.
func newCopy(t *testing.T, login string) (path string) {
	path = filepath.Join(t.TempDir(), "backup.db")
	newDatabase(t, path+".source", login)
	_, err := transfer.Backup(ctx, path+".source", path, nil)
	persisttest.Must(t, err)
	return path
}

func newExport(t *testing.T) (path string) {
	path = filepath.Join(t.TempDir(), "export.jsonl")
	_, err := transfer.ExportFile(ctx, newCopy(t, "new"), path, nil)
	persisttest.Must(t, err)
	return path
}

// newFirstVersion writes a database of the first version with some rows.
func newFirstVersion(t *testing.T, path string) {
	steps, err := filepath.Glob("../persist/migrations/000[12]_*.sql") // the second has the channels
	persisttest.Must(t, err)
	persisttest.Must(t, os.WriteFile(path, nil, 0o600))
	for _, step := range steps {
		persisttest.Alter(t, path, string(read(t, step)))
	}
	persisttest.Alter(t, path, "PRAGMA user_version = 2; INSERT INTO channel (id, login) VALUES ('c1', 'old')")
}

// TestPowerCut_NothingLost ends each kind of work before every sync, rename and deletion: by a
// kill, and by a power cut that loses all that isn't synced. The next start opens what is left.
// Nothing is lost that was acknowledged, and nothing is half.
func TestPowerCut_NothingLost(t *testing.T) {
	turntest.Expensive(t)
	t.Parallel()
	// holding returns an installation with that database, and a backup for it.
	holding := func(t *testing.T, database, backup string) *installation {
		in := &installation{folder: t.TempDir(), backup: backup}
		persisttest.Must(t, os.WriteFile(in.places().Database, read(t, database), 0o600))
		return in
	}
	for name, test := range map[string]struct {
		role string
		from func(t *testing.T) *installation
		want func(l *left, t *testing.T)
	}{
		"first start":           {"start", func(t *testing.T) *installation { return &installation{folder: t.TempDir()} }, (*left).wantStarted},
		"start after a restore": {"start", func(t *testing.T) *installation { return holding(t, newCopy(t, "old"), "") }, (*left).wantStartedWith},
		"migration": {"start", func(t *testing.T) *installation {
			in := &installation{folder: t.TempDir()}
			newFirstVersion(t, in.places().Database)
			return in
		}, (*left).wantStartedWith},
		"restore":          {"restored", func(t *testing.T) *installation { return holding(t, newCopy(t, "old"), newCopy(t, "new")) }, (*left).wantEither},
		"restore of all":   {"restored", newInstallation, (*left).wantAllOrNothing},
		"import":           {"imported", func(t *testing.T) *installation { return holding(t, newCopy(t, "old"), newExport(t)) }, (*left).wantEither},
		"import, with log": {"imported", func(t *testing.T) *installation { in := newInstallation(t); in.backup = newExport(t); return in }, (*left).wantEither},
		"backup":           {"copied", newInstallation, (*left).wantCopied},
		"encrypted backup": {"sealed", newInstallation, (*left).wantCopied},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := test.from(t)
			cuts := persisttest.CutPower(t, test.role, in.places().Database, backupVariable+"="+in.backup)
			for _, cut := range turntest.Sample(t, 4, cuts) {
				t.Run(cut.Name, func(t *testing.T) { test.want(in.look(t, cut), t) })
			}
		})
	}
}

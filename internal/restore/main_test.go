package restore

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/persist/persisttest"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/internal/persist/transfer"
)

func TestMain(m *testing.M) {
	persisttest.Main(m, childRoles)
}

var childRoles = map[string]func(ctx context.Context, path string) error{"restore": restoreUntilKilled}

// backupVariable is the environment variable with the backup that a child restores.
const backupVariable = "CHATGUARD_RESTORE_BACKUP"

var ctx = context.Background()

const passphrase = "correct horse"

// part is a file of an archive.
type part struct {
	name     string
	contents []byte
	at       time.Time
	link     string // where a symbolic link leads; empty for a file
}

// seal returns an archive that is opened faster than a real one.
func seal(t *testing.T, files ...part) []byte {
	t.Helper()
	recipient, err := age.NewScryptRecipient(passphrase)
	persisttest.Must(t, err)
	recipient.SetWorkFactor(4)
	var out bytes.Buffer
	sealed, err := age.Encrypt(&out, recipient)
	persisttest.Must(t, err)
	w := tar.NewWriter(sealed)
	for _, f := range files {
		header := tar.Header{Name: f.name, Mode: 0o640, Size: int64(len(f.contents)), ModTime: f.at, Format: tar.FormatPAX}
		if f.link != "" {
			header.Typeflag, header.Linkname = tar.TypeSymlink, f.link
		}
		persisttest.Must(t, w.WriteHeader(&header))
		_, err := w.Write(f.contents)
		persisttest.Must(t, err)
	}
	persisttest.Must(t, w.Close())
	persisttest.Must(t, sealed.Close())
	return out.Bytes()
}

// newDatabase creates a database with a channel of that login, and returns its contents.
func newDatabase(t *testing.T, path, login string) []byte {
	t.Helper()
	data := emptyDatabase()
	persisttest.Must(t, os.WriteFile(path, data, 0o600))
	persisttest.Alter(t, path, "INSERT INTO channel (id, login) VALUES ('c1', '"+login+"')")
	return read(t, path)
}

// emptyDatabase returns the contents of a new database.
var emptyDatabase = sync.OnceValue(func() []byte {
	folder, err := os.MkdirTemp("", "chatguard")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "chatguard.db")
	s, err := persist.Open(ctx, path, &persist.Options{Now: persisttest.At(persisttest.Start), Logger: slog.New(slog.DiscardHandler)})
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		panic(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	return data
})

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	persisttest.Must(t, err)
	return data
}

// installation is a folder with an installation. Contents are those of its configuration, its
// database, its login file and its key of texts.
type installation struct {
	folder string
	backup string // a file outside of the folder
	old    [parts][]byte
	now    [parts][]byte // contents of the backup
}

var loginTimes = struct{ backup, there time.Time }{persisttest.Start, persisttest.Start.Add(-time.Hour)}

// newInstallation returns an installation, and an encrypted backup with other contents.
func newInstallation(t *testing.T) *installation {
	t.Helper()
	in := &installation{folder: t.TempDir()}
	elsewhere := t.TempDir()
	in.backup = filepath.Join(elsewhere, "backup.age")
	in.old = [parts][]byte{[]byte("# old"), newDatabase(t, in.places().Database, "old"), login("old", "7"), []byte(strings.Repeat("0d", 16))}
	in.now = [parts][]byte{[]byte("# new"), newDatabase(t, filepath.Join(elsewhere, "db"), "new"), login("new", "7"), []byte(strings.Repeat("4e", 16))}
	for i, name := range in.names() {
		persisttest.Must(t, os.WriteFile(name, in.old[i], 0o600))
	}
	persisttest.Must(t, os.Chtimes(in.places().Login, loginTimes.there, loginTimes.there))
	in.write(t, seal(t, in.parts()...))
	return in
}

func login(token, user string) []byte {
	return []byte(`{"access_token":"` + token + `","user_id":"` + user + `"}`)
}

func (in *installation) parts() []part {
	return []part{
		{name: transfer.ConfigurationName, contents: in.now[configurationPart], at: persisttest.Start},
		{name: transfer.LoginName, contents: in.now[loginPart], at: loginTimes.backup},
		{name: transfer.TextKeyName, contents: in.now[textKeyPart], at: persisttest.Start},
		{name: transfer.DatabaseName, contents: in.now[databasePart], at: persisttest.Start},
	}
}

func (in *installation) write(t *testing.T, backup []byte) {
	t.Helper()
	persisttest.Must(t, os.WriteFile(in.backup, backup, 0o600))
}

func (in *installation) places() transfer.Installation {
	name := func(name string) string { return filepath.Join(in.folder, name) }
	return transfer.Installation{Configuration: name("chatguard.toml"), Database: name("chatguard.db"), Login: name("chatguard.db.token"), TextKey: name("chatguard.db.textkey")}
}

func (in *installation) names() [parts]string {
	p := in.places()
	return [parts]string{p.Configuration, p.Database, p.Login, p.TextKey}
}

// mark writes the marker of a restore whose staged file is that of a part.
func (in *installation) mark(t *testing.T, part int) {
	t.Helper()
	target := realFile(in.names()[part])
	sum := sha256.Sum256(read(t, target+sqlite.PartSuffix))
	data, err := json.Marshal(marker{keptSuffix, []markedFile{{part, target, hex.EncodeToString(sum[:])}}})
	persisttest.Must(t, err)
	persisttest.Must(t, os.WriteFile(in.places().Database+sqlite.RestoringSuffix, data, 0o600))
}

// options returns options for a restore of the installation.
func (in *installation) options() Options {
	return Options{
		Passphrase: func() (string, error) { return passphrase, nil },
		Places:     func([]byte) (transfer.Installation, error) { return in.places(), nil },
		Progress:   new(Progress),
	}
}

// wantFiles checks the files of the folder: the contents by name, and nothing else but the lock
// file.
func (in *installation) wantFiles(t *testing.T, want map[string][]byte) {
	t.Helper()
	entries, err := os.ReadDir(in.folder)
	persisttest.Must(t, err)
	for _, e := range entries {
		if _, ok := want[e.Name()]; !ok && e.Name() != "chatguard.db.lock" {
			t.Errorf("there is a file %s", e.Name())
		}
	}
	for name, contents := range want {
		got, err := os.ReadFile(filepath.Join(in.folder, name))
		if err != nil || !bytes.Equal(got, contents) {
			t.Errorf("%s has %d bytes, %v; want %d others", name, len(got), err, len(contents))
		}
	}
}

// wantOld checks that nothing was restored.
func (in *installation) wantOld(t *testing.T) {
	t.Helper()
	in.wantFiles(t, map[string][]byte{"chatguard.toml": in.old[configurationPart], "chatguard.db": in.old[databasePart], "chatguard.db.token": in.old[loginPart], "chatguard.db.textkey": in.old[textKeyPart]})
}

// wantNew checks that everything was restored, and that what was there is kept.
func (in *installation) wantNew(t *testing.T) {
	t.Helper()
	in.wantFiles(t, map[string][]byte{
		"chatguard.toml": in.now[configurationPart], "chatguard.db": in.now[databasePart], "chatguard.db.token": in.now[loginPart], "chatguard.db.textkey": in.now[textKeyPart],
		"chatguard.toml.before-restore": in.old[configurationPart], "chatguard.db.before-restore": in.old[databasePart],
		"chatguard.db.token.before-restore": in.old[loginPart], "chatguard.db.textkey.before-restore": in.old[textKeyPart],
	})
}

// wantRefused checks that a restore returns one line with all parts and changes nothing.
func (in *installation) wantRefused(t *testing.T, opts Options, parts ...string) {
	t.Helper()
	_, err := Run(ctx, in.backup, opts)
	persisttest.WantError(t, err, parts...)
	in.wantOld(t)
}

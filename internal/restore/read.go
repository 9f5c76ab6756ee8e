package restore

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/chatguard/chatguard/internal/archive"
	"github.com/chatguard/chatguard/internal/fileaccess"
	"github.com/chatguard/chatguard/internal/persist/transfer"
)

// maxSmallFile is the maximum size of a configuration, a login file or a key of texts.
const maxSmallFile = 4 << 20

// openBackup reads a backup up to its database.
func openBackup(in *os.File, name string, opts Options) (*backup, error) {
	b := &backup{name: name, opts: opts}
	encrypted, err := isEncrypted(in, name)
	if err != nil {
		return nil, err
	}
	if encrypted {
		return b, b.openArchive(in)
	}
	b.database, b.end = in, func() error { return nil }
	return b, nil
}

// isEncrypted reports whether a backup is encrypted. If the file isn't a backup, the error says so.
func isEncrypted(in *os.File, name string) (bool, error) {
	start := make([]byte, 64)
	n, err := in.ReadAt(start, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("%s can't be read (%w): check its disk, or use another backup", name, fileaccess.Cause(err))
	}
	start = start[:n]
	switch {
	case archive.IsArchive(start):
		return true, nil
	case bytes.HasPrefix(start, []byte("SQLite format 3\x00")):
		return false, nil
	case bytes.HasPrefix(start, []byte(`{"kind":"chatguard-export"`)), bytes.HasPrefix(start, []byte{0x1f, 0x8b}):
		return false, fmt.Errorf("%s is an export: restore it with `chatguard import`", name)
	}
	return false, fmt.Errorf("%s is not a backup: %s", name, nameBackup)
}

// openArchive reads the files before the database.
func (b *backup) openArchive(in io.Reader) error {
	passphrase, err := b.opts.Passphrase()
	if err != nil {
		return err
	}
	r, err := archive.NewReader(in, passphrase)
	switch {
	case errors.Is(err, archive.ErrPassphrase):
		return fmt.Errorf("the passphrase doesn't fit %s: enter the one that it was made with", b.name)
	case errors.Is(err, archive.ErrNoPhrase):
		return fmt.Errorf("%s is encrypted for a key: decrypt it with `age -d`, or %s", b.name, nameBackup)
	case err != nil:
		return b.explain(err)
	}
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("%s contains no database: %s", b.name, nameBackup)
		}
		if err != nil {
			return b.explain(err)
		}
		switch {
		case header.Typeflag != tar.TypeReg:
			return fmt.Errorf("%s contains %q, which isn't a regular file: %s", b.name, header.Name, nameBackup)
		case header.Name == transfer.DatabaseName:
			b.database, b.end, b.outcome.At = r, func() error { return b.checkEnd(r) }, header.ModTime
			return nil
		case header.Name == transfer.ConfigurationName:
			b.mode = 0o600 | header.FileInfo().Mode().Perm()&0o044
			err = b.readSmall(r, header, &b.configuration)
		case header.Name == transfer.LoginName:
			b.loginAt = header.ModTime
			err = b.readSmall(r, header, &b.login)
		case header.Name == transfer.TextKeyName:
			err = b.readSmall(r, header, &b.textKey)
		default:
			err = b.unknownFile(header.Name)
		}
		if err != nil {
			return b.explain(err)
		}
	}
}

// readSmall reads a file into memory, unless only the database is restored.
func (b *backup) readSmall(r io.Reader, header *tar.Header, into *[]byte) error {
	if b.opts.OnlyDatabase {
		return nil
	}
	if header.Size > maxSmallFile {
		return fmt.Errorf("%s contains a %s of more than %d MiB: restore without it with --only-database", b.name, header.Name, maxSmallFile>>20)
	}
	data, err := io.ReadAll(r)
	*into = data
	return err
}

// checkEnd checks that the database is the archive's last file.
func (b *backup) checkEnd(r *archive.Reader) error {
	header, err := r.Next()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	return b.unknownFile(header.Name)
}

func (b *backup) unknownFile(name string) error {
	return fmt.Errorf("%s contains %q, which this chatguard doesn't know: update chatguard", b.name, name)
}

// stageLogin writes the new login file, unless the present one is the same, or a newer one of the
// same account.
func (b *backup) stageLogin(f *file) error {
	if b.login == nil {
		return nil
	}
	there, err := os.ReadFile(f.target)
	if err == nil {
		info, err := os.Stat(f.target)
		switch {
		case bytes.Equal(there, b.login):
			b.outcome.Login = Same
			return nil
		case err == nil && !info.ModTime().Before(b.loginAt) && isSameAccount(there, b.login):
			b.outcome.Login = Newer
			return nil
		}
	}
	b.outcome.Login = Restored
	return f.write(bytes.NewReader(b.login), 0o600)
}

// isSameAccount reports whether two login files are of the same account. Each renewal of a login
// makes its earlier tokens useless, so perhaps only the newer file works.
func isSameAccount(a, b []byte) bool {
	var logins [2]struct {
		Access string `json:"access_token"`
		User   string `json:"user_id"`
	}
	if json.Unmarshal(a, &logins[0]) != nil || json.Unmarshal(b, &logins[1]) != nil {
		return false
	}
	return logins[0].Access != "" && logins[0].User != "" && logins[0].User == logins[1].User
}

// stageTextKey writes the key of texts, unless it is the same. The database's hashes of texts were
// made with it.
func (b *backup) stageTextKey(f *file) error {
	if b.textKey == nil {
		return nil
	}
	if there, err := os.ReadFile(f.target); err == nil && bytes.Equal(there, b.textKey) {
		b.outcome.TextKey = Same
		return nil
	}
	b.outcome.TextKey = Restored
	return f.write(bytes.NewReader(b.textKey), 0o600)
}

// stageConfiguration writes the new configuration, unless it is the same.
func (b *backup) stageConfiguration(f *file) error {
	if b.configuration == nil {
		return nil
	}
	if there, err := os.ReadFile(f.target); err == nil && bytes.Equal(there, b.configuration) {
		b.outcome.Configuration = Same
		return nil
	}
	b.outcome.Configuration = Restored
	return f.write(bytes.NewReader(b.configuration), b.mode)
}

// IsEncrypted reports whether the backup in a file is encrypted. The error is one line with the
// fix.
func IsEncrypted(file string) (bool, error) {
	in, err := open(file)
	if err != nil {
		return false, err
	}
	defer in.Close()
	return isEncrypted(in, file)
}

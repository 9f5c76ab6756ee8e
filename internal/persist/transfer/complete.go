package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/chatguard/chatguard/internal/archive"
	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/internal/textkey"
)

// Installation lists the files of one installation of chatguard.
type Installation struct {
	Configuration string // may be missing if the environment alone is the configuration
	Database      string
	Login         string // the file that `chatguard login` writes; may be missing
	TextKey       string // the file with the key of texts; may be missing
}

// The names of the files in a complete backup, in this order.
const (
	ConfigurationName = "chatguard.toml"
	LoginName         = "chatguard.db.token"
	TextKeyName       = "chatguard.db.textkey" // earlier versions wrote none
	DatabaseName      = "chatguard.db"
)

// BackupComplete is like Backup, but the target is an archive of the whole installation, encrypted
// with the passphrase. While it runs, the database's folder has another copy of the database. It
// refuses a damaged key of texts.
func BackupComplete(ctx context.Context, in Installation, target, passphrase string, opts *Options) (Copy, error) {
	full := opts.withDefaults()
	if _, err := textkey.Read(in.TextKey); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Copy{}, err
	}
	src, err := persist.Schema.OpenSnapshot(ctx, in.Database)
	if err != nil {
		return Copy{}, err
	}
	defer src.Close()
	if src.IsEmpty() {
		return Copy{}, sqlite.MissingError(src.Path)
	}
	d, err := src.NewDraft(target, full.Force)
	if err != nil {
		return Copy{}, err
	}
	defer d.Discard()
	made := Copy{Path: d.Target}
	began := func(part string) {
		full.Progress.part.Store(&part)
		made.At = full.Now()
	}
	err = src.Temporary(ctx, began, func(copied *os.File) error {
		part := d.Target + sqlite.PartSuffix
		full.Progress.part.Store(&part)
		out, err := archive.NewWriter(d, passphrase)
		if err == nil {
			made.Files, err = writeArchive(ctx, out, in, copied, made.At)
		}
		return err
	})
	if err != nil {
		return Copy{}, err
	}
	made.Bytes, err = d.Publish()
	return made, err
}

// writeArchive writes an archive of the installation. copied is a copy of its database, made at the
// time at. It returns the names of the files in it.
func writeArchive(ctx context.Context, out *archive.Writer, in Installation, copied *os.File, at time.Time) (names []string, err error) {
	for _, f := range [][2]string{{ConfigurationName, in.Configuration}, {LoginName, in.Login}, {TextKeyName, in.TextKey}} {
		switch err := addFile(out, f[0], f[1]); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		default:
			names = append(names, f[0])
		}
	}
	info, err := copied.Stat()
	if err != nil {
		return nil, err
	}
	contents := contextReader{ctx, io.NewSectionReader(copied, 0, info.Size())}
	if err := out.Add(DatabaseName, 0o600, at, info.Size(), contents); err != nil {
		return nil, err
	}
	return append(names, DatabaseName), out.Close()
}

// addFile adds a file with its mode and its time.
func addFile(out *archive.Writer, name, path string) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err != nil {
		return fmt.Errorf("%s can't be read (%w): make it readable for this user", path, errors.Unwrap(err))
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if err := out.Add(name, info.Mode(), info.ModTime(), info.Size(), file); errors.Is(err, io.EOF) {
		return fmt.Errorf("%s was being changed: run this again", path)
	} else if err != nil {
		return err
	}
	return nil
}

// contextReader fails once its context ends.
type contextReader struct {
	ctx context.Context
	io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

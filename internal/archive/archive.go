// Package archive writes and reads complete backups. An archive is a tar of a few files, encrypted
// with a passphrase in the age format, so `age -d FILE | tar x` also reads one. This package knows
// nothing about what the files contain.
package archive

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"filippo.io/age"
)

// The errors of NewReader, Next and Read. Other errors come from the file that is read.
var (
	ErrPassphrase = errors.New("the passphrase is wrong")
	ErrNoPhrase   = errors.New("it is encrypted for a key, not with a passphrase")
	ErrDamaged    = errors.New("it is incomplete or damaged")
)

// workFactor is the base-2 logarithm of the cost of trying a passphrase. 17 is what OWASP
// recommends for scrypt. It needs 128 MiB of memory; age's default of 18 needs 256 MiB, which small
// servers lack. A test makes it cheaper.
var workFactor = 17

// maxWorkFactor limits the memory that a file can demand, to 1 GiB.
const maxWorkFactor = 20

const magic = "age-encryption.org/"

// IsArchive reports whether a file that starts with the given bytes may be an archive.
func IsArchive(start []byte) bool { return bytes.HasPrefix(start, []byte(magic)) }

// Writer writes an archive.
type Writer struct {
	sealed io.WriteCloser
	files  *tar.Writer
}

// NewWriter starts an archive. The passphrase must not be empty.
func NewWriter(w io.Writer, passphrase string) (*Writer, error) {
	recipient, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return nil, err
	}
	recipient.SetWorkFactor(workFactor)
	sealed, err := age.Encrypt(w, recipient)
	if err != nil {
		return nil, err
	}
	return &Writer{sealed, tar.NewWriter(sealed)}, nil
}

// Add appends a file, with the time of its contents. The contents must have the given size.
func (w *Writer) Add(name string, mode fs.FileMode, at time.Time, size int64, contents io.Reader) error {
	header := &tar.Header{Name: name, Mode: int64(mode.Perm()), ModTime: at, Size: size, Format: tar.FormatPAX}
	if err := w.files.WriteHeader(header); err != nil {
		return err
	}
	_, err := io.CopyN(w.files, contents, size)
	return err
}

// Close completes the archive. It doesn't close the underlying writer.
func (w *Writer) Close() error { return errors.Join(w.files.Close(), w.sealed.Close()) }

// Reader reads an archive, one file after the other.
type Reader struct {
	opened io.Reader
	files  *tar.Reader
}

// NewReader decrypts the header of an archive.
func NewReader(r io.Reader, passphrase string) (*Reader, error) {
	identity, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return nil, err
	}
	identity.SetMaxWorkFactor(maxWorkFactor)
	opened, err := age.Decrypt(r, identity)
	var noMatch *age.NoIdentityMatchError
	switch {
	case errors.As(err, &noMatch) && len(noMatch.StanzaTypes) == 1 && noMatch.StanzaTypes[0] == "scrypt":
		return nil, ErrPassphrase
	case errors.As(err, &noMatch):
		return nil, ErrNoPhrase
	case err != nil:
		return nil, classify(err)
	}
	return &Reader{opened, tar.NewReader(opened)}, nil
}

// Next goes to the next file. The error is io.EOF after the last file, if the archive is complete.
func (r *Reader) Next() (*tar.Header, error) {
	header, err := r.files.Next()
	if errors.Is(err, io.EOF) {
		if _, err := io.Copy(io.Discard, r.opened); err != nil {
			return nil, classify(err)
		}
		return nil, io.EOF
	}
	return header, classify(err)
}

// Read reads from the current file.
func (r *Reader) Read(p []byte) (int, error) {
	n, err := r.files.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = classify(err)
	}
	return n, err
}

// classify adds ErrDamaged to an error unless the file itself couldn't be read.
func classify(err error) error {
	if err == nil || errors.As(err, new(*fs.PathError)) {
		return err
	}
	return fmt.Errorf("%w: %v", ErrDamaged, err)
}

package archive

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"filippo.io/age"
)

func init() { workFactor = 4 }

var at = time.Date(2026, 3, 14, 20, 0, 0, 0, time.UTC)

// write returns an archive of one file.
func write(t *testing.T, contents string) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, "secret")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Add("file", 0o640, at, int64(len(contents)), strings.NewReader(contents)), w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// readAll returns the only file of an archive.
func readAll(r io.Reader, passphrase string) (string, error) {
	files, err := NewReader(r, passphrase)
	if err != nil {
		return "", err
	}
	header, err := files.Next()
	if err != nil {
		return "", err
	}
	contents, err := io.ReadAll(files)
	if err != nil {
		return "", err
	}
	if _, err := files.Next(); !errors.Is(err, io.EOF) {
		return "", err
	}
	if header.Name != "file" || header.FileInfo().Mode().Perm() != 0o640 || !header.ModTime.Equal(at) {
		return "", errors.New("the header isn't what was written")
	}
	return string(contents), nil
}

func TestArchive(t *testing.T) {
	t.Parallel()
	contents := strings.Repeat("hello", 30_000)
	sealed := write(t, contents)
	if got, err := readAll(bytes.NewReader(sealed), "secret"); err != nil || got != contents {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if !IsArchive(sealed[:64]) || IsArchive([]byte("SQLite format 3")) || IsArchive(nil) {
		t.Error("IsArchive is wrong")
	}
	if _, err := readAll(bytes.NewReader(sealed), "Secret"); !errors.Is(err, ErrPassphrase) {
		t.Errorf("the wrong passphrase: %v", err)
	}
	for name, broken := range map[string][]byte{
		"in the header": sealed[:100], "in the first chunk": sealed[:40_000],
		"after the first chunk": sealed[:len(sealed)-len(sealed)%(64<<10+16)], "at the end": sealed[:len(sealed)-1],
		"longer": append(slices.Clone(sealed), 'x'),
	} {
		if _, err := readAll(bytes.NewReader(broken), "secret"); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	failed := &fs.PathError{Op: "read", Path: "file", Err: errors.New("bad sector")}
	_, err := readAll(io.MultiReader(bytes.NewReader(sealed[:100_000]), iotest.ErrReader(failed)), "secret")
	if !errors.Is(err, failed) || errors.Is(err, ErrDamaged) {
		t.Errorf("a bad disk: %v", err)
	}
}

func TestNewWriter_EmptyPassphrase(t *testing.T) {
	if _, err := NewWriter(io.Discard, ""); err == nil {
		t.Error("accepted")
	}
}

func TestNewReader_Key(t *testing.T) {
	key, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := age.Encrypt(&out, key.Recipient())
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	if _, err := NewReader(&out, "secret"); !errors.Is(err, ErrNoPhrase) {
		t.Error(err)
	}
}

// Add returns an error if a file is shorter than announced, for example because it is being
// replaced.
func TestAdd_Short(t *testing.T) {
	w, err := NewWriter(io.Discard, "secret")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Add("file", 0o600, at, 10, strings.NewReader("short")); err == nil {
		t.Error("accepted")
	}
}

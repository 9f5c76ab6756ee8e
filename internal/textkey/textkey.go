// Package textkey has an installation's key of texts: limits on repeated text and the timeline know
// a text only by a hash with this key. It must not know texts or the database.
package textkey

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/chatguard/chatguard/internal/atomicfile"
	"github.com/chatguard/chatguard/internal/fileaccess"
)

// Key is a key of texts. The zero value means that there is none.
type Key = [16]byte

// Random returns a new key, which nobody else has.
func Random() (k Key) {
	rand.Read(k[:]) // never fails
	return k
}

// Derived returns the key of all nodes that have the same secret.
func Derived(secret string) Key {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("chatguard: key of texts"))
	return Key(mac.Sum(nil))
}

// Open returns the key in the file at path. If there is no file, Open creates one that only its
// owner can read. The error is one line that names the file and the fix, without the content.
func Open(path string) (Key, error) {
	k, err := read(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	k = Random()
	err = atomicfile.Write(path, append(hex.AppendEncode(nil, k[:]), '\n'), func(draft *os.File) error {
		return atomicfile.GiveToFolderOwner(draft, path)
	})
	if err != nil {
		return Key{}, fmt.Errorf("the key of texts %s can't be written (%w): make its folder writable for chatguard's user", path, cause(err))
	}
	return k, nil
}

// Check returns a one-line error if the file at path is damaged, or if other users can read or
// change it. A missing file is not an error.
func Check(path string) error {
	if _, err := read(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	others, err := fileaccess.OfOthers(path)
	if err == nil && others.Any() {
		return fmt.Errorf("the key of texts %s can be %s by other users of this machine: %s", path, others.Verb(), fileaccess.Fix(path))
	}
	return nil
}

// read returns the key in a file. The error is fs.ErrNotExist, or one line with the fix.
func read(path string) (k Key, err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return k, fs.ErrNotExist
	}
	var text []byte
	if err == nil {
		defer file.Close()
		text, err = io.ReadAll(io.LimitReader(file, 1024))
	}
	if err != nil {
		return k, fmt.Errorf("the key of texts %s can't be read (%w): let chatguard's user read it", path, cause(err))
	}
	text = bytes.TrimSpace(text)
	if n, err := hex.Decode(k[:], text[:min(len(text), 2*len(k))]); err != nil || n != len(k) || len(text) != 2*len(k) || k == (Key{}) {
		return Key{}, fmt.Errorf("the key of texts %s is damaged: restore it from an encrypted backup, or delete it; chatguard then makes a new one, and forgets which texts were repeated", path)
	}
	return k, nil
}

// cause returns an error without the path that it contains.
func cause(err error) error {
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		return failed.Err
	}
	if failed := (*os.LinkError)(nil); errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

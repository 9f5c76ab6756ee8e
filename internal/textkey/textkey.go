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
	"io/fs"
	"os"

	"github.com/chatguard/chatguard/internal/atomicfile"
	"github.com/chatguard/chatguard/internal/fileaccess"
)

// Key is a key of texts. The zero value means that there is none.
type Key = [16]byte

// Derived returns the key of all nodes that have the same secret.
func Derived(secret string) Key {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("chatguard: key of texts"))
	return Key(mac.Sum(nil))
}

// Open returns the key in the file at path. If there is no file, Open creates one that only its
// owner can read. The error is one line that names the file and the fix, without the content.
func Open(path string) (Key, error) {
	k, err := Read(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	rand.Read(k[:]) // never fails
	err = atomicfile.Write(path, append(hex.AppendEncode(nil, k[:]), '\n'), func(draft *os.File) error {
		return atomicfile.GiveToFolderOwner(draft, path)
	})
	if err != nil {
		return Key{}, fmt.Errorf("the key of texts %s can't be written (%w): make its folder writable for chatguard's user", path, fileaccess.Cause(err))
	}
	return k, nil
}

// Check returns a one-line error if the file at path is damaged, or if other users can read or
// change it. A missing file is not an error.
func Check(path string) error {
	if _, err := Read(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fileaccess.Check("the key of texts", path)
}

// Read returns the key in the file at path. The error is fs.ErrNotExist, or one line with the fix.
func Read(path string) (Key, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Key{}, fs.ErrNotExist
	}
	if err != nil {
		return Key{}, fmt.Errorf("the key of texts %s can't be read (%w): let chatguard's user read it", path, fileaccess.Cause(err))
	}
	b, err := hex.DecodeString(string(bytes.TrimSpace(text)))
	if err != nil || len(b) != len(Key{}) || Key(b) == (Key{}) {
		return Key{}, fmt.Errorf("the key of texts %s is damaged: restore it from an encrypted backup, or delete it; chatguard then makes a new one, and forgets which texts were repeated", path)
	}
	return Key(b), nil
}

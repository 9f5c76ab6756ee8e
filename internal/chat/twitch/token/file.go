package token

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/gofrs/flock"

	"github.com/chatguard/chatguard/internal/atomicfile"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/fileaccess"
	"github.com/chatguard/chatguard/internal/textfile"
)

// record is the content of a token file.
type record struct {
	Pair
	UserID string   `json:"user_id,omitempty"` // the token's owner, if known
	Login  string   `json:"login,omitempty"`
	Scopes []string `json:"scopes,omitempty"`
	// Seeds are hashes of the environment's tokens that the file replaces.
	Seeds []string `json:"seeded_from,omitempty"`
}

// file is where tokens are stored. Another process may change it at any time, so a writer holds its
// lock. The zero value stores nothing.
type file struct{ path string }

// Limits on the token file, and the polling interval for its lock. A process may hold the lock for
// as long as it takes to renew the token.
const (
	maxFileSize = 64 << 10
	lockRetry   = 20 * time.Millisecond
)

// lock acquires the lock for writing. The lock file is never removed. Otherwise two processes could
// lock two different files of the same name.
func (f file) lock(ctx context.Context) (unlock func() error, err error) {
	if f.path == "" {
		return func() error { return nil }, nil
	}
	lock := flock.New(f.path+".lock", flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockRetry); err != nil {
		return nil, f.unwritableError(err)
	}
	return lock.Unlock, nil
}

// read returns the file's content, raw and decoded. Both are empty if there is no file.
func (f file) read() (data []byte, r record, err error) {
	if f.path == "" {
		return nil, r, nil
	}
	file, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, r, nil
	}
	if err != nil {
		return nil, r, fmt.Errorf("token file %s can't be read (%w): let chatguard's user read it, or run `chatguard login`", f.path, fileaccess.Cause(err))
	}
	defer file.Close()
	if data, err = io.ReadAll(io.LimitReader(file, maxFileSize)); err != nil {
		return nil, r, fmt.Errorf("token file %s can't be read (%w): check its disk, or run `chatguard login`", f.path, fileaccess.Cause(err))
	}
	if !f.decode(data, &r) {
		return data, record{}, fmt.Errorf("token file %s isn't what `chatguard login` writes: run `chatguard login` again", f.path)
	}
	return data, r, nil
}

// decode decodes data into r and reports whether the data is valid. It doesn't describe the error,
// because that would reveal the content.
func (f file) decode(data []byte, r *record) bool {
	if text, err := textfile.Trim(data); err != nil || json.Unmarshal(text, r) != nil {
		return false
	}
	for _, token := range []string{r.Access, r.Refresh} {
		if bare, err := twitch.BareToken(token); token != "" && (err != nil || bare != token) {
			return false
		}
	}
	return r.Access != "" || r.Refresh != ""
}

// write replaces the whole file with one that only its owner can read, and returns the new content.
// The caller holds the lock.
func (f file) write(r record) (data []byte, err error) {
	if f.path == "" {
		return nil, nil
	}
	if data, err = json.MarshalIndent(r, "", "  "); err != nil {
		return nil, err
	}
	data = append(data, '\n')
	if err := atomicfile.Write(f.path, data, nil); err != nil {
		return nil, f.unwritableError(err)
	}
	return data, nil
}

func (f file) unwritableError(err error) error {
	return fmt.Errorf("token file %s can't be written (%w): make its folder writable for chatguard's user", f.path, fileaccess.Cause(err))
}

// CheckFile returns a one-line error if a token file is invalid. A missing file is not an error.
func CheckFile(path string) error {
	if _, _, err := (file{path}).read(); err != nil {
		return err
	}
	return fileaccess.Check("token file", path)
}

package twitch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"
)

// tokenRecord is what a token file holds.
type tokenRecord struct {
	Pair
	UserID string   `json:"user_id,omitempty"` // whose the token is, as far as that was asked
	Login  string   `json:"login,omitempty"`
	Scopes []string `json:"scopes,omitempty"`
	Seeds  []string `json:"seeded_from,omitempty"` // hashes of the environment's tokens that the file takes the place of
}

// tokenFile is where tokens are kept. Another process may change it at any time, so whoever writes holds its lock. The zero value keeps nothing.
type tokenFile struct{ path string }

// Bounds on the token file and on the wait for its lock. Whoever holds that may be renewing the token.
const (
	maxTokenFile  = 64 << 10
	lockLookAgain = 20 * time.Millisecond
)

// lock takes the right to write. The lock file stays, because removing it would let two processes lock two different files of the same name.
func (f tokenFile) lock(ctx context.Context) (unlock func() error, err error) {
	if f.path == "" {
		return func() error { return nil }, nil
	}
	lock := flock.New(f.path+".lock", flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockLookAgain); err != nil {
		return nil, f.unwritable(err)
	}
	return lock.Unlock, nil
}

// read returns what the file holds, as it is and understood; nothing where there is none.
func (f tokenFile) read() (data []byte, r tokenRecord, err error) {
	if f.path == "" {
		return nil, r, nil
	}
	file, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, r, nil
	}
	if err != nil {
		return nil, r, fmt.Errorf("token file %s can't be read (%w): let chatguard's user read it, or run `chatguard login`", f.path, cause(err))
	}
	defer file.Close()
	if data, err = io.ReadAll(io.LimitReader(file, maxTokenFile)); err != nil {
		return nil, r, fmt.Errorf("token file %s can't be read (%w): look at its disk, or run `chatguard login`", f.path, cause(err))
	}
	if !f.understand(data, &r) {
		return data, tokenRecord{}, fmt.Errorf("token file %s isn't what `chatguard login` writes: run `chatguard login` again", f.path)
	}
	return data, r, nil
}

// understand says nothing of what is wrong: that would show what is in the file.
func (f tokenFile) understand(data []byte, r *tokenRecord) bool {
	if json.Unmarshal(data, r) != nil {
		return false
	}
	for _, token := range []string{r.Access, r.Refresh} {
		if bare, err := bareToken(token); token != "" && (err != nil || bare != token) {
			return false
		}
	}
	return r.Access != "" || r.Refresh != ""
}

// write replaces the file as a whole, with one that only its owner can read, and returns what it holds then. The caller holds the lock.
func (f tokenFile) write(r tokenRecord) (data []byte, err error) {
	if f.path == "" {
		return nil, nil
	}
	if data, err = json.MarshalIndent(r, "", "  "); err != nil {
		return nil, err
	}
	data = append(data, '\n')
	path := f.path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // a link stays one
	}
	if err := replaceFile(path, data); err != nil {
		return nil, f.unwritable(err)
	}
	return data, nil
}

func (f tokenFile) unwritable(err error) error {
	return fmt.Errorf("token file %s can't be written (%w): let chatguard's user write in its folder", f.path, cause(err))
}

// cause takes the path off an error that comes with a path of its own.
func cause(err error) error {
	var file *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &file):
		return file.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// replaceFile writes a file beside the one at path, and puts it into its place once it is on the disk.
func replaceFile(path string, data []byte) error {
	folder := filepath.Dir(path)
	draft, err := os.CreateTemp(folder, filepath.Base(path)+".*.new") // only its owner can read it
	if err != nil {
		return err
	}
	_, err = draft.Write(data)
	if err = errors.Join(err, draft.Sync(), draft.Close()); err == nil {
		err = os.Rename(draft.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(draft.Name()))
	}
	return syncFolder(folder)
}

// syncFolder makes a new name in a folder last.
func syncFolder(name string) error {
	if runtime.GOOS == "windows" {
		return nil // there a folder can't be synced, and renaming is journalled
	}
	folder, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// CheckTokenFile says in one line what is wrong with a token file, if anything is; that there is none isn't.
func CheckTokenFile(path string) error {
	if _, _, err := (tokenFile{path}).read(); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("token file %s can be read by other users of this machine: chmod 600 %s", path, path)
	}
	return nil // where there is none, nothing is wrong with it
}

package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/chatguard/chatguard/internal/atomicfile"
)

// OwnedError says that another process owns the database.
type OwnedError struct {
	Path string
	PID  int // of the owner; 0 if unreadable
	// User is the name of the user who runs the owning process, if that is another user. The
	// current user then can't use the database. Otherwise User is empty.
	User string
}

func (e *OwnedError) Error() string {
	owner := "another process"
	switch e.PID {
	case 0:
	case os.Getpid():
		owner = "another container, or twice in this process" // each container counts its own PIDs
	default:
		owner = "process " + strconv.Itoa(e.PID)
	}
	if e.User != "" {
		return fmt.Sprintf("database %s is in use by %s of the user %s: run this as %[3]s, or set another database", e.Path, owner, e.User)
	}
	return fmt.Sprintf("database %s is in use by %s: stop that first, or set another database", e.Path, owner)
}

// HiddenError says that this user may not find out whether a process owns the database.
type HiddenError struct {
	Path string
	// User is the name of the user to whom the database or its folder belongs; "" if that isn't
	// known.
	User string
}

func (e *HiddenError) Error() string {
	return fmt.Sprintf("this user may not see who uses the database %s: run this as %s", e.Path, e.Users())
}

// Users says which users may find it out.
func (e *HiddenError) Users() string {
	switch e.User {
	case "":
		return "the user that chatguard runs as"
	case "root":
		return e.User
	}
	return e.User + " or root"
}

// ownerLock is the ownership of a database: a lock on the file beside it. The operating system
// releases the lock when the process ends for any reason. The file stays, because removing it would
// let two processes lock two different files of the same name.
type ownerLock struct{ file *flock.Flock }

// lockDatabase takes ownership of the database at path, or returns an *OwnedError.
func lockDatabase(path string) (*ownerLock, error) {
	name := path + ".lock"
	if info, err := os.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, fmt.Errorf("%s: remove the link, because the lock file must be written", describeLink(name))
	}
	if err := createLockFile(name); err != nil {
		return nil, unwritableError(path, err)
	}
	lock := &ownerLock{file: flockFile(name)}
	locked, err := lock.tryLock()
	if errors.Is(err, fs.ErrPermission) {
		return nil, foreignDatabaseError(path, err)
	}
	if err != nil {
		return nil, unwritableError(path, err)
	}
	if !locked {
		return nil, &OwnedError{Path: path, PID: readPID(name)}
	}
	if err := writePID(name); err != nil {
		return nil, errors.Join(unwritableError(path, err), lock.release())
	}
	return lock, nil
}

// flockFile returns the lock file to use. Opening it fails if its name is a symbolic link.
func flockFile(name string) *flock.Flock {
	return flock.New(name, flock.SetFlag(os.O_CREATE|os.O_RDONLY|noFollow), flock.SetPermissions(0o600))
}

// tryLock takes the lock if it is free. It retries briefly, because a process that only checks the
// owner also holds the lock for a moment.
func (l *ownerLock) tryLock() (locked bool, err error) {
	for range 10 {
		if locked, err = l.file.TryLock(); locked || err != nil {
			return locked, err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false, nil
}

// CheckOwner returns an *OwnedError if another process owns the database at path, and a
// *HiddenError if this user lacks the permission to find out. It returns nil if no other process
// owns it, or if CheckOwner can't find out for another reason.
func CheckOwner(path string) error {
	named := path
	path, err := realPath(path)
	if errors.Is(err, fs.ErrPermission) {
		return hiddenError(named)
	}
	if err != nil {
		return nil
	}
	name := path + ".lock"
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrPermission) {
		return hiddenError(path)
	}
	if err != nil || !info.Mode().IsRegular() {
		return nil // the database never had an owner
	}
	lock := &ownerLock{file: flockFile(name)}
	locked, err := lock.file.TryRLock()
	switch {
	case err == nil && !locked:
		return &OwnedError{Path: path, PID: readPID(name)}
	case errors.Is(err, fs.ErrPermission):
		if user, pid, held := foreignLock(name); held {
			return &OwnedError{Path: path, PID: pid, User: user}
		}
		if runtime.GOOS != "linux" { // only Linux has a list of locks
			return hiddenError(name)
		}
	}
	return lock.release()
}

// hiddenError returns the error for a database at path that this user may not see. It names the
// owner of the innermost file or folder that the user may see.
func hiddenError(path string) error {
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	for at := path; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err == nil {
			user, _ := ownerOf(info)
			return &HiddenError{Path: strings.TrimSuffix(path, ".lock"), User: user}
		}
		if at == filepath.Dir(at) {
			return &HiddenError{Path: path}
		}
	}
}

// ForeignFolder returns the name of the user to whom the database's folder belongs, if root would
// create the database at path there. That user then couldn't open it. Otherwise, ForeignFolder
// returns "".
func ForeignFolder(path string) (user string) {
	path, err := realPath(path)
	if err != nil {
		return ""
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	folder, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return ""
	}
	user, isRoot := ownerOf(folder)
	if isRoot {
		return ""
	}
	return user
}

// foreignDatabaseError returns the error for a database at path whose lock file this user may not
// open.
func foreignDatabaseError(path string, err error) error {
	switch user, pid, held := foreignLock(path + ".lock"); {
	case held:
		return &OwnedError{Path: path, PID: pid, User: user}
	case user != "":
		return &Error{path: path, problem: fmt.Sprintf("it belongs to the user %s: run this as %[1]s, or set another database", user), err: err}
	}
	return unwritableError(path, err)
}

func (l *ownerLock) release() error { return l.file.Unlock() }

// On Windows, other processes can't read or write a locked byte. So the first byte, which is
// locked, is a space, and the PID follows it.
const pidOffset = 1

func createLockFile(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(" ")
	return errors.Join(err, atomicfile.GiveToFolderOwner(f, name), f.Close())
}

func writePID(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|noFollow, 0)
	if err != nil {
		return err
	}
	// The text is as wide as any PID, so that it overwrites an earlier, longer PID completely.
	_, err = f.WriteAt(fmt.Appendf(nil, "%-19d\n", os.Getpid()), pidOffset)
	return errors.Join(err, f.Close())
}

func readPID(name string) int {
	f, err := os.Open(name)
	if err != nil {
		return 0
	}
	defer f.Close()
	text := make([]byte, 32)
	n, _ := f.ReadAt(text, pidOffset) // the file is shorter than text
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text[:n])))
	return pid
}
